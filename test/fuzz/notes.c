/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * libFuzzer: any bytes as the notes about probes that are written into a program. What is read lies
 * inside the bytes, and where arguments are makes sense.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "dlang/probe/notes.h"
#include "dlang/probe/operand.h"

#define ARGS 10

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct bytes {
	const uint8_t *data;
	size_t size;
};

static void check(bool holds)
{
	if (!holds)
		abort();
}

static void check_inside(const struct bytes *b, const char *s)
{
	const uint8_t *p = (const uint8_t *)s;

	check(p >= b->data && p + strlen(s) < b->data + b->size);
}

static void check_types(const struct bytes *b, const struct ki_d_note *n)
{
	struct ki_d_noted noted;

	if (ki_d_notes_types(b->data, b->size, n, &noted) != KI_D_NOTES_TYPES)
		check(!noted.n);
	check(noted.n <= KI_D_NOTED_ARGS);
	for (uint32_t i = 0; i < noted.n; i++)
		check_inside(b, noted.args[i].type);
}

static int take(void *arg, const struct ki_d_note *n)
{
	struct ki_d_operand o[ARGS];

	check_inside(arg, n->provider);
	check_inside(arg, n->name);
	check_inside(arg, n->args);
	check_types(arg, n);
	ki_d_operands(n->args, o, ARGS);
	for (int i = 0; i < ARGS; i++) {
		check(o[i].kind <= KI_D_IN_MEMORY && o[i].base < 16 && o[i].index < 16);
		if (o[i].kind == KI_D_NO_OPERAND)
			continue;
		check(o[i].size && o[i].size <= 8 && !(o[i].size & (o[i].size - 1)));
		check(o[i].kind != KI_D_REGISTER || o[i].base >= 0);
	}
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes b = {data, size};

	ki_d_notes_each(data, size, take, &b);
	return 0;
}
