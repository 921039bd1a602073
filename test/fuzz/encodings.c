// SPDX-License-Identifier: GPL-2.0-only
#include "encodings.h"

#include <string.h>

#define LONGEST 15 /* bytes of an instruction */

static uint64_t state;

void encodings_begin(uint64_t seed)
{
	state = seed * 0x9e3779b97f4a7c15 + 1;
}

uint32_t encodings_any(uint32_t below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)((state >> 32) * below >> 32);
}

static uint32_t put_prefixes(uint8_t *p)
{
	static const uint8_t some[] = {0x66, 0x65, 0xf0, 0x66, 0x65, 0xf0, 0x26,
				       0x2e, 0x36, 0x3e, 0x64, 0x67, 0xf2, 0xf3};
	uint32_t n = encodings_any(8) ? encodings_any(3) : encodings_any(LONGEST);

	for (uint32_t i = 0; i < n; i++)
		p[i] = some[encodings_any(sizeof(some))];
	return n;
}

static uint32_t put_lead(uint8_t *p)
{
	static const struct {
		uint8_t n, bytes[5];
	} leads[] = {{1, {0xc5}},
		     {1, {0xc4}},
		     {2, {0xc4, 0xe1}},
		     {1, {0x62}},
		     {2, {0x62, 0xf1}},
		     {1, {0x8f}},
		     {2, {0x8f, 0xe9}},
		     {1, {0xd5}},
		     {2, {0xd5, 0x80}},
		     {1, {0x0f}},
		     {2, {0x0f, 0x38}},
		     {2, {0x0f, 0x3a}},
		     {2, {0x0f, 0x0f}},
		     {5, {0x0f, 0x0b, 0x78, 0x65, 0x6e}},
		     {5, {0x0f, 0x0b, 0x6b, 0x76, 0x6d}}};
	uint32_t what = encodings_any(10), i = encodings_any(sizeof(leads) / sizeof(*leads)), n = 0;

	if (what < 6)
		p[n++] = (uint8_t)(0x40 + encodings_any(16));
	if (what < 1)
		p[n++] = (uint8_t)(0x40 + encodings_any(16));
	if (what % 3 == 0)
		p[n++] = 0x0f;
	if (what < 8)
		return n;
	memcpy(p + n, leads[i].bytes, leads[i].n);
	return n + leads[i].n;
}

/* Small, or such that it is small when 8 is added and nobody looks. */
static void put_displacement(uint8_t *p)
{
	switch (encodings_any(8)) {
	case 0:
		return;
	case 1:
		memcpy(p, "\xf8\xff\xff\x7f", 4);
		*p |= (uint8_t)encodings_any(8);
		return;
	default:
		memset(p, 0, 4);
		*p = (uint8_t)(encodings_any(2) ? 8 * encodings_any(3) : encodings_any(17));
	}
}

/* The most that stands before random bytes: 15 prefixes, two REX, 0f, 5 bytes. */
void encodings_make(uint8_t string[ENCODING_ROOM])
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < ENCODING_ROOM; i++)
		string[i] = (uint8_t)encodings_any(256);
	if (!encodings_any(16))
		return;
	if (encodings_any(2))
		n = put_prefixes(string);
	n += put_lead(string + n);
	if (encodings_any(2))
		return;
	/* an opcode, an operand that may be: on the stack, of %gs or of %rip */
	n++;
	string[n++] = (uint8_t)((encodings_any(8) << 3) | "\x04\x05\x44\x84"[encodings_any(4)]);
	if ((string[n - 1] & 7) == 4)
		string[n++] = encodings_any(2) ? 0x24 : 0x25;
	put_displacement(string + n);
}
