/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Text that grows. The first failure is kept, so only the end needs a check; a text that has failed
 * takes no more.
 */
#ifndef KERNINSTD_TEXT_H
#define KERNINSTD_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text {
	char *v; /* ends with a zero byte after n; NULL: empty */
	size_t n, cap;
	bool failed; /* out of memory */
};

void text_put(struct text *t, const char *s, size_t n);
void text_str(struct text *t, const char *s);
void text_u64(struct text *t, uint64_t n);
void text_double(struct text *t, double d); /* as JSON has it: no number is null */
void text_printf(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void text_free(struct text *t);

#endif
