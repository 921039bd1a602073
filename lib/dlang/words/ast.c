// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include "dlang/words/ast.h"

#include <errno.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include "predicate/ast.h"

struct ki_d_node *ki_d_node_new(struct ki_d_pool *p, enum ki_d_kind kind, uint32_t at, size_t len)
{
	struct ki_d_node *n = calloc(1, sizeof(*n) + len + 1);

	if (!n)
		return NULL;
	n->kind = (uint8_t)kind;
	n->at = at;
	n->all = p->all;
	p->all = n;
	return n;
}

void ki_d_pool_free(struct ki_d_pool *p)
{
	while (p->all) {
		struct ki_d_node *next = p->all->all;

		free(p->all);
		p->all = next;
	}
}

/* Names that the kernel and DTrace give to C's types; the rest are those of predicates. */
static const struct {
	const char *name;
	uint8_t base, num;
} types[] = {
	{"void", KI_D_VOID, 0},
	{"string", KI_D_STRING, 0},
	{"int8_t", KI_D_INT, KI_I8},
	{"int16_t", KI_D_INT, KI_I16},
	{"int32_t", KI_D_INT, KI_I32},
	{"int64_t", KI_D_INT, KI_I64},
	{"intptr_t", KI_D_INT, KI_I64},
	{"uint8_t", KI_D_INT, KI_U8},
	{"uint16_t", KI_D_INT, KI_U16},
	{"uint32_t", KI_D_INT, KI_U32},
	{"uint64_t", KI_D_INT, KI_U64},
	{"uintptr_t", KI_D_INT, KI_U64},
	{"uchar_t", KI_D_INT, KI_U8},
	{"ushort_t", KI_D_INT, KI_U16},
	{"uint_t", KI_D_INT, KI_U32},
	{"ulong_t", KI_D_INT, KI_U64},
	{"longlong_t", KI_D_INT, KI_I64},
	{"u_longlong_t", KI_D_INT, KI_U64},
	{"size_t", KI_D_INT, KI_U64},
	{"ssize_t", KI_D_INT, KI_I64},
	{"off_t", KI_D_INT, KI_I64},
	{"pid_t", KI_D_INT, KI_I32},
	{"uid_t", KI_D_INT, KI_U32},
	{"gid_t", KI_D_INT, KI_U32},
	{"hrtime_t", KI_D_INT, KI_I64},
	{"boolean_t", KI_D_INT, KI_I32},
	{"zoneid_t", KI_D_INT, KI_I32},
	{"id_t", KI_D_INT, KI_I32},
	{"projid_t", KI_D_INT, KI_I32},
	{"taskid_t", KI_D_INT, KI_I32},
	{"processorid_t", KI_D_INT, KI_I32},
	{"psetid_t", KI_D_INT, KI_I32},
	{"chipid_t", KI_D_INT, KI_I32},
	{"lgrp_id_t", KI_D_INT, KI_I32},
	{"offset_t", KI_D_INT, KI_I64},
	{"pgcnt_t", KI_D_INT, KI_U64},
};

int ki_d_type_named(const char *name, struct ki_d_type *out)
{
	enum ki_type num;

	*out = (struct ki_d_type){0};
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		if (!strcmp(name, types[i].name)) {
			out->base = types[i].base;
			out->num = types[i].num;
			ki_d_call(out, types[i].name);
			return 0;
		}
	if (ki_type_named(name, &num))
		return -ENOENT;
	*out = ki_d_int(num);
	return 0;
}

enum ki_type ki_d_num(struct ki_d_type t)
{
	return t.stars || t.base != KI_D_INT ? KI_U64 : (enum ki_type)t.num;
}

unsigned int ki_d_size(struct ki_d_type t)
{
	static const uint8_t sizes[KI_TYPES] = {
		[KI_I8] = 1, [KI_I16] = 2, [KI_I32] = 4, [KI_I64] = 8,
		[KI_U8] = 1, [KI_U16] = 2, [KI_U32] = 4, [KI_U64] = 8};

	if (t.base == KI_D_VOID && !t.stars)
		return 1;
	return sizes[ki_d_num(t)];
}

const char *ki_d_type_name(struct ki_d_type t, char name[KI_D_TYPE_NAME])
{
	static const char *const nums[KI_TYPES] = {
		[KI_I8] = "int8_t",    [KI_I16] = "int16_t", [KI_I32] = "int",
		[KI_I64] = "int64_t",  [KI_U8] = "uint8_t",  [KI_U16] = "uint16_t",
		[KI_U32] = "uint32_t", [KI_U64] = "uint64_t"};
	static const char *const bases[] = {
		[KI_D_VOID] = "void",	      [KI_D_STRING] = "string", [KI_D_STACK] = "stack",
		[KI_D_FLOAT] = "double",      [KI_D_STRUCT] = "struct", [KI_D_ARRAY] = "array",
		[KI_D_FUNCTION] = "function", [KI_D_PLACE] = "symbol"};

	snprintf(name, KI_D_TYPE_NAME, "%.40s%s%.*s",
		 t.called && t.base == KI_D_INT ? t.called
		 : t.base == KI_D_INT		? nums[t.num]
						: bases[t.base],
		 t.stars ? " " : "", t.stars, "****************");
	return name;
}

struct ki_d_type ki_d_usual(struct ki_d_type a, struct ki_d_type b)
{
	const unsigned int size = ki_d_size(a) > ki_d_size(b) ? ki_d_size(a) : ki_d_size(b);
	const struct ki_d_type both[] = {a, b};
	bool is_unsigned = false;

	for (int i = 0; i < 2; i++)
		is_unsigned |= ki_d_num(both[i]) >= KI_U8 && ki_d_size(both[i]) == size;
	if (size < 4)
		return ki_d_int(KI_I32);
	if (size == 4)
		return ki_d_int(is_unsigned ? KI_U32 : KI_I32);
	return ki_d_int(is_unsigned ? KI_U64 : KI_I64);
}

struct ki_d_type ki_d_larger(struct ki_d_type a, struct ki_d_type b)
{
	static const enum ki_type small[][2] = {{KI_I8, KI_U8}, {KI_I16, KI_U16}};
	const unsigned int size = ki_d_size(a) > ki_d_size(b) ? ki_d_size(a) : ki_d_size(b);
	const bool is_unsigned = (ki_d_num(a) >= KI_U8 && ki_d_size(a) == size) ||
				 (ki_d_num(b) >= KI_U8 && ki_d_size(b) == size);

	return size < 4 ? ki_d_int(small[size / 2][is_unsigned]) : ki_d_usual(a, b);
}
