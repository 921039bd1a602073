/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Strings that are instructions, or nearly: prefixes in any number and order, the lead bytes of all
 * encodings, operands on the stack, of %gs or of %rip.
 */
#ifndef TEST_FUZZ_ENCODINGS_H
#define TEST_FUZZ_ENCODINGS_H

#include <stdint.h>

#define ENCODING_ROOM 64

void encodings_begin(uint64_t seed);
uint32_t encodings_any(uint32_t below); /* a random number */
void encodings_make(uint8_t string[ENCODING_ROOM]);

#endif
