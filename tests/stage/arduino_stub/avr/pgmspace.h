#pragma once
#include <stdint.h>
#define PROGMEM
static inline uint16_t pgm_read_word(const void* place) { return *(const uint16_t*)place; }
static inline uint8_t pgm_read_byte(const void* place) { return *(const uint8_t*)place; }
