// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include "dlang/probe/operand.h"

#include <ctype.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define NAME 8

/* Of 8, 4, 2 and 1 bytes; r8 to r15 are made of their numbers. */
static const char *const names[][4] = {
	{"rax", "eax", "ax", "al"},  {"rcx", "ecx", "cx", "cl"},  {"rdx", "edx", "dx", "dl"},
	{"rbx", "ebx", "bx", "bl"},  {"rsp", "esp", "sp", "spl"}, {"rbp", "ebp", "bp", "bpl"},
	{"rsi", "esi", "si", "sil"}, {"rdi", "edi", "di", "dil"},
};
static const char *const high[] = {"ah", "ch", "dh", "bh"}; /* bytes 1 of the first four */

static int8_t numbered(const char *name)
{
	char *end;
	long n = *name == 'r' && isdigit((unsigned char)name[1]) ? strtol(name + 1, &end, 10) : 0;

	if (n < 8 || n > 15 || (*end && (end[1] || !strchr("dwb", *end))))
		return -1;
	return (int8_t)n;
}

/* "%eax": its number, and *p is behind it; -1: none. *shift: 8 of %ah. */
static int8_t read_register(const char **p, uint8_t *shift)
{
	char name[NAME] = "";
	size_t len = 0;

	*shift = 0;
	if (**p != '%')
		return -1;
	while (isalnum((unsigned char)(*p)[len + 1]))
		len++;
	if (len >= sizeof(name))
		return -1;
	memcpy(name, *p + 1, len);
	*p += len + 1;
	for (size_t r = 0; r < sizeof(names) / sizeof(*names); r++)
		for (size_t w = 0; w < 4; w++)
			if (!strcmp(name, names[r][w]))
				return (int8_t)r;
	for (size_t r = 0; r < sizeof(high) / sizeof(*high); r++)
		if (!strcmp(name, high[r])) {
			*shift = 8;
			return (int8_t)r;
		}
	return numbered(name);
}

/* "(%base)", "(%base,%index,scale)", "(,%index,scale)" */
static bool read_memory(const char **p, struct ki_d_operand *o)
{
	uint8_t shift;
	char *end;

	if (*(*p)++ != '(')
		return false;
	o->base = o->index = -1;
	o->scale = 1;
	if (**p == '%' && (o->base = read_register(p, &shift)) < 0)
		return false;
	if (**p == ',') {
		++*p;
		o->index = read_register(p, &shift);
		if (o->index < 0)
			return false;
		if (**p == ',') {
			o->scale = (uint8_t)strtol(*p + 1, &end, 10);
			*p = end;
		}
	}
	o->kind = KI_D_IN_MEMORY;
	return *(*p)++ == ')' && (o->base >= 0 || o->index >= 0);
}

static bool read_place(const char **p, struct ki_d_operand *o)
{
	char *end;

	if (**p == '%') {
		o->kind = KI_D_REGISTER;
		o->base = read_register(p, &o->shift);
		return o->base >= 0;
	}
	if (**p == '$') {
		o->kind = KI_D_IMMEDIATE;
		o->disp = (int64_t)strtoll(*p + 1, &end, 0);
		if (end == *p + 1)
			return false;
		*p = end;
		return true;
	}
	o->disp = (int64_t)strtoll(*p, &end, 0); /* nothing: 0 */
	*p = end;
	return read_memory(p, o);
}

/* "-4@" */
static bool read_size(const char **p, struct ki_d_operand *o)
{
	char *end;
	long n = strtol(*p, &end, 10);

	*p = end + 1;
	if (n < -8 || n > 8)
		return false;
	o->is_signed = n < 0;
	n = n < 0 ? -n : n;
	o->size = (uint8_t)n;
	return *end == '@' && (n == 1 || n == 2 || n == 4 || n == 8);
}

void ki_d_operands(const char *text, struct ki_d_operand *out, unsigned int most)
{
	const struct ki_d_operand none = {.kind = KI_D_NO_OPERAND, .base = -1, .index = -1};

	for (unsigned int i = 0; i < most; i++) {
		const char *p;

		text += strspn(text, " ");
		p = text;
		out[i] = none;
		if (!*p || !read_size(&p, &out[i]) || !read_place(&p, &out[i]) || (*p && *p != ' '))
			out[i] = none;
		text += strcspn(text, " ");
	}
}
