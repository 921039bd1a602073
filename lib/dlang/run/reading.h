/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Values, as they come from records.
 */
#ifndef KI_DLANG_READING_H
#define KI_DLANG_READING_H

#include "dlang/print/place.h"
#include "dlang/run/run.h"

/* A record while its values are taken from it. */
struct ki_d_reading {
	struct ki_d_consumer *c;
	const struct ki_d_probe *probe;
	uint32_t number; /* of the probe */
	const uint64_t *next;
	bool bad; /* a value is none that can be */
	char text[8 * KI_D_COMM_WORDS + 1];
};

/* The next value: of KI_D_FORM_WORD; of one that is a string; of KI_D_FORM_ADDRESS and _USER. */
uint64_t ki_d_take_word(struct ki_d_reading *r);
const char *ki_d_take_text(struct ki_d_reading *r, const struct ki_d_arg *a);
const char *ki_d_take_place(struct ki_d_reading *r, const struct ki_d_arg *a,
			    char text[KI_D_ADDRESS]);
/* The pieces of a piece of memory, one after the other; what is not there is 0. Free it. */
uint8_t *ki_d_take_bytes(struct ki_d_reading *r, uint32_t size);

#define KI_D_TEXT_COLUMNS 33 /* of a string that trace() prints, at least */

/* consume.c: one value. */
void ki_d_print_value(struct ki_d_reading *r, const struct ki_d_arg *a, bool quiet);

/* memory.c: tracemem(), print(), trace(). */
int ki_d_print_memory(struct ki_d_reading *r, const struct ki_d_action *a);
int ki_d_print_typed(struct ki_d_reading *r, const struct ki_d_action *a);
int ki_d_print_traced(struct ki_d_reading *r, const struct ki_d_action *a);

/* Of pcap(): its first bytes, and how long it is. Free the bytes. -ENOMEM */
struct ki_d_packet {
	uint32_t kind, size, length;
	uint64_t time; /* nanoseconds since 1970 */
	uint8_t *bytes;
};
int ki_d_take_packet(struct ki_d_reading *r, const struct ki_d_action *a, struct ki_d_packet *out);

/* capture.c: what pcap() does with it. Does a clause write packets into a file? Lines of text have
 * no place between them. */
int ki_d_capture(struct ki_d_reading *r, const struct ki_d_action *a);
bool ki_d_captures(const struct ki_dlang *d, const struct ki_d_clause *c);

#endif
