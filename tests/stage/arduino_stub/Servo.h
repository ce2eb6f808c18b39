// Servo.h as Arduino has it, where it matters: limits in one byte and steps of 4 us, pulses held to them, nothing sent before attach.
#pragma once
#include <stdio.h>
#include "Arduino.h"

extern uint32_t write_us;  // how long writing one pulse takes

class Servo {
public:
    uint8_t attach(int pin, int lowest = 544, int highest = 2400) {
        pin_ = pin;
        low_ = (int8_t)((544 - lowest) / 4);
        high_ = (int8_t)((2400 - highest) / 4);
        attached_ = true;
        printf("attach %d %d %llu\n", pin_, pulse_, (unsigned long long)clock_us);
        return 0;
    }
    void writeMicroseconds(int pulse) {
        if (pulse < 544 - low_ * 4) pulse = 544 - low_ * 4;
        if (pulse > 2400 - high_ * 4) pulse = 2400 - high_ * 4;
        pulse_ = pulse;
        if (attached_) printf("pulse %d %d %llu\n", pin_, pulse_, (unsigned long long)clock_us);
        clock_us += write_us;
    }

private:
    int pin_ = -1, pulse_ = 1500;
    int8_t low_ = 0, high_ = 0;
    bool attached_ = false;
};
