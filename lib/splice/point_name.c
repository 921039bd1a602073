// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Names of points. One table is both the writer's and the reader's: a kind of point has a word, a
 * number or an offset after it or neither, and a word for its side.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kerninst/splice.h"

enum number { NO_NUMBER, BLOCK_NUMBER, EDGE_NUMBER, OFFSET };

/* The first row of a kind is how it is written. */
static const struct form {
	const char *word, *side;
	uint8_t kind; /* enum ki_point_kind */
	uint8_t number;
} forms[] = {
	{":entry", "", KI_POINT_ENTRY, NO_NUMBER},
	{":exit", "", KI_POINT_EXIT, NO_NUMBER},
	{":exit", ":after", KI_POINT_EXIT_AFTER, NO_NUMBER},
	{":calls", "", KI_POINT_CALLS, NO_NUMBER},
	{":returns", "", KI_POINT_RETURNS, NO_NUMBER},
	{":block/", "", KI_POINT_BLOCK, BLOCK_NUMBER},
	{":block/", ":pre", KI_POINT_BLOCK, BLOCK_NUMBER},
	{":block/", ":post", KI_POINT_BLOCK_END, BLOCK_NUMBER},
	{":edge/", "", KI_POINT_EDGE, EDGE_NUMBER},
	{"+", "", KI_POINT_INSN, OFFSET},
	{"+", ":before", KI_POINT_INSN, OFFSET},
	{"+", ":after", KI_POINT_AFTER, OFFSET},
};

#define NFORMS (sizeof(forms) / sizeof(*forms))

int ki_point_format(const struct ki_point *pt, uint64_t start, uint16_t order,
		    char name[KI_POINT_NAME_LEN])
{
	char number[24] = "", behind[8] = "";
	size_t i = 0;

	while (i < NFORMS && forms[i].kind != pt->kind)
		i++;
	if (i == NFORMS)
		return -EINVAL;
	if (forms[i].number == OFFSET)
		snprintf(number, sizeof(number), "0x%" PRIx64, pt->addr - start);
	else if (forms[i].number != NO_NUMBER)
		snprintf(number, sizeof(number), "%" PRIu32,
			 forms[i].number == BLOCK_NUMBER ? pt->block : pt->edge);
	if (order)
		snprintf(behind, sizeof(behind), "/%u", order);
	snprintf(name, KI_POINT_NAME_LEN, "%s%s%s%s", forms[i].word, number, forms[i].side, behind);
	return 0;
}

/* Digits up to `end`, no more than max; hexadecimal after 0x if that is allowed. */
static int read_number(const char *from, const char *end, bool hex_allowed, uint64_t max,
		       uint64_t *out)
{
	bool hex = hex_allowed && end - from > 2 && from[0] == '0' && (from[1] | 32) == 'x';
	const char *digits = hex ? "0123456789abcdefABCDEF" : "0123456789";
	char *stop;

	if (hex)
		from += 2;
	if (from >= end || from + strspn(from, digits) < end)
		return -EINVAL;
	errno = 0;
	*out = strtoull(from, &stop, hex ? 16 : 10);
	return errno || stop != end || *out > max ? -EINVAL : 0;
}

/* Cut "/ORDER" off the end: a slash that begins no number of the word itself. */
static int cut_order(const char *name, const char **end, uint16_t *order)
{
	const char *slash = strrchr(name, '/');
	uint64_t n;

	*end = name + strlen(name);
	*order = 0;
	if (!slash || !strncmp(name, ":block/", (size_t)(slash + 1 - name)) ||
	    !strncmp(name, ":edge/", (size_t)(slash + 1 - name)))
		return 0;
	if (read_number(slash + 1, *end, false, UINT16_MAX, &n))
		return -EINVAL;
	*order = (uint16_t)n;
	*end = slash;
	return 0;
}

static int read_form(const struct form *f, const char *name, const char *end, uint64_t start,
		     struct ki_point *pt)
{
	size_t word = strlen(f->word), side = strlen(f->side);
	const char *stop = end - side;
	uint64_t n = 0;

	if ((size_t)(end - name) < word + side || strncmp(name, f->word, word) ||
	    strncmp(stop, f->side, side))
		return -EINVAL;
	if (f->number == NO_NUMBER ? name + word != stop
				   : read_number(name + word, stop, f->number == OFFSET,
						 f->number == OFFSET ? UINT64_MAX : UINT32_MAX, &n))
		return -EINVAL;
	*pt = (struct ki_point){.kind = (enum ki_point_kind)f->kind};
	if (f->number == BLOCK_NUMBER)
		pt->block = (uint32_t)n;
	else if (f->number == EDGE_NUMBER)
		pt->edge = (uint32_t)n;
	else if (f->number == OFFSET)
		pt->addr = start + n;
	return 0;
}

int ki_point_parse(const char *name, uint64_t start, struct ki_point *pt, uint16_t *order)
{
	const char *end;

	if (cut_order(name, &end, order))
		return -EINVAL;
	for (size_t i = 0; i < NFORMS; i++)
		if (!read_form(&forms[i], name, end, start, pt))
			return 0;
	return -EINVAL;
}
