// Just enough of Arduino to run a sketch on a computer: a clock that the test moves on, program memory that is memory.
#pragma once
#include <stdint.h>
#include <avr/pgmspace.h>

typedef uint8_t byte;
extern uint64_t clock_us;  // runs on; micros() shows its low 32 bits, as a board does

inline uint32_t micros() { return (uint32_t)clock_us; }
inline void delay(uint32_t ms) { clock_us += 1000ull * ms; }
