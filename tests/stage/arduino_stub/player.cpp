// Runs a sketch: player START_US LOOP_US WRITE_US END_US. Every loop takes LOOP_US.
#include <stdlib.h>
#include "Arduino.h"
#include "Servo.h"

uint64_t clock_us = 0;
uint32_t write_us = 0;

#include "sketch.ino"

int main(int, char** words) {
    clock_us = strtoull(words[1], nullptr, 10);
    const uint64_t start = clock_us, loop_us = strtoull(words[2], nullptr, 10), end = strtoull(words[4], nullptr, 10);
    write_us = (uint32_t)strtoul(words[3], nullptr, 10);
    setup();
    printf("start %llu\n", (unsigned long long)clock_us);
    while (clock_us - start < end) {
        loop();
        clock_us += loop_us;
    }
}
