// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Types from BTF: each becomes a definition when it is met, and is met once.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dlang/words/types.h"

#if __has_include(<bpf/btf.h>)

#include <bpf/btf.h>
#include <bpf/libbpf.h>

#define DEEPEST 32 /* of a chain of pointers, modifiers, typedefs */
#define ROOT	"/sys/kernel/btf/"
#define KERNEL	"vmlinux"

static struct ki_d_type nothing(void)
{
	return (struct ki_d_type){.base = KI_D_VOID};
}

/* ---- files ---- */

static int add(struct ki_d_types *t, const char *module, struct btf *btf)
{
	struct ki_d_btf b = {.btf = btf, .module = strdup(module)};

	if (!btf) {
		free(b.module);
		return -ENOENT;
	}
	b.nids = btf__type_cnt(btf);
	b.defs = calloc(b.nids, sizeof(*b.defs));
	if (b.module && b.defs && !ki_vec_push(&t->btfs, b))
		return 0;
	free(b.module);
	free(b.defs);
	btf__free(btf);
	return -ENOMEM;
}

/* libbpf says on stderr what it cannot read; here errors are returned. */
static int quiet(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	(void)level;
	(void)fmt;
	(void)ap;
	return 0;
}

bool ki_d_btf_known(struct ki_d_types *t)
{
	if (!t->sought) {
		libbpf_print_fn_t was = libbpf_set_print(quiet);

		t->sought = true;
		add(t, "", btf__parse(t->path ? t->path : ROOT KERNEL, NULL));
		libbpf_set_print(was);
	}
	return t->btfs.n;
}

/* The BTF of a module, as an index; SIZE_MAX: it has none. */
static size_t module_btf(struct ki_d_types *t, const char *module)
{
	char path[128];
	struct btf *btf;

	if (!ki_d_btf_known(t))
		return SIZE_MAX;
	if (!*module || !strcmp(module, KERNEL) || !strcmp(module, "kernel"))
		return 0;
	for (size_t i = 1; i < t->btfs.n; i++)
		if (!strcmp(t->btfs.v[i].module, module))
			return i;
	snprintf(path, sizeof(path), ROOT "%.64s", module);
	btf = t->path || strchr(module, '/') ? NULL : btf__parse_split(path, t->btfs.v[0].btf);
	return add(t, module, btf) ? SIZE_MAX : t->btfs.n - 1;
}

void ki_d_btf_close(struct ki_d_types *t)
{
	for (size_t i = t->btfs.n; i-- > 0;) {
		btf__free(t->btfs.v[i].btf);
		free(t->btfs.v[i].module);
		free(t->btfs.v[i].defs);
	}
	ki_vec_free(&t->btfs);
}

/* ---- types ---- */

static struct ki_d_type convert(struct ki_d_types *t, size_t b, uint32_t id, unsigned int depth);

static const struct btf_type *type_at(const struct ki_d_types *t, size_t b, uint32_t id)
{
	return btf__type_by_id(t->btfs.v[b].btf, id);
}

static const char *name_at(const struct ki_d_types *t, size_t b, uint32_t off)
{
	const char *name = btf__name_by_offset(t->btfs.v[b].btf, off);

	return name ? name : "";
}

/* The definition of that type, new if it has not been met. */
static struct ki_d_def *def_at(struct ki_d_types *t, size_t b, uint32_t id, enum ki_d_def_kind kind)
{
	const struct btf_type *bt = type_at(t, b, id);
	struct ki_d_def *d;

	if (b && id < t->btfs.v[0].nids)
		b = 0;
	if (t->btfs.v[b].defs[id])
		return t->defs.v[t->btfs.v[b].defs[id] - 1];
	d = ki_d_def_new(t, kind, name_at(t, b, bt->name_off));
	if (!d)
		return NULL;
	t->btfs.v[b].defs[id] = d->number;
	d->btf = (uint32_t)b + 1;
	d->id = id;
	d->loaded = false;
	return d;
}

/* What others call a number that D has another name for. */
static const char *called(const char *name)
{
	static const char *const names[][2] = {{"char", "char"},
					       {"_Bool", "_Bool"},
					       {"long long int", "long long"},
					       {"long long unsigned int", "unsigned long long"}};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(name, names[i][0]))
			return names[i][1];
	return NULL;
}

static struct ki_d_type number(const struct btf_type *bt, const char *name)
{
	const bool sign = btf_int_encoding(bt) & BTF_INT_SIGNED;
	const unsigned int bits = btf_int_bits(bt);
	const enum ki_type s = bits == 8 || bits == 1 ? KI_I8
			       : bits == 16	      ? KI_I16
			       : bits == 32	      ? KI_I32
						      : KI_I64;
	struct ki_d_type type = ki_d_int(sign ? s : (enum ki_type)(s + (KI_U8 - KI_I8)));

	type.called = called(name);
	return type;
}

static struct ki_d_type composite(struct ki_d_types *t, size_t b, uint32_t id)
{
	const struct btf_type *bt = type_at(t, b, id);
	struct ki_d_def *d =
		def_at(t, b, id, btf_kind(bt) == BTF_KIND_UNION ? KI_D_DEF_UNION : KI_D_DEF_STRUCT);

	if (!d)
		return nothing();
	if (btf_is_fwd(bt)) {
		d->loaded = true;
	} else {
		d->size = bt->size;
		d->complete = true;
	}
	return (struct ki_d_type){.base = KI_D_STRUCT, .def = d->number};
}

static struct ki_d_type enumeration(struct ki_d_types *t, size_t b, uint32_t id)
{
	const struct btf_type *bt = type_at(t, b, id);
	struct ki_d_def *d = def_at(t, b, id, KI_D_DEF_ENUM);
	struct ki_d_type type = ki_d_int(bt->size == 8 ? KI_I64 : btf_kflag(bt) ? KI_I32 : KI_U32);

	type.def = d ? d->number : 0;
	return type;
}

static struct ki_d_type prototype(struct ki_d_types *t, size_t b, uint32_t id)
{
	struct ki_d_def *d = def_at(t, b, id, KI_D_DEF_FUNCTION);

	return (struct ki_d_type){.base = KI_D_FUNCTION, .def = d ? d->number : 0};
}

static struct ki_d_type array(struct ki_d_types *t, size_t b, uint32_t id, unsigned int depth)
{
	const struct btf_array *a = btf_array(type_at(t, b, id));

	return ki_d_array_of(t, convert(t, b, a->type, depth + 1), a->nelems);
}

static struct ki_d_type convert(struct ki_d_types *t, size_t b, uint32_t id, unsigned int depth)
{
	const struct btf_type *bt = type_at(t, b, id);
	struct ki_d_type type;

	if (!bt || !id || depth > DEEPEST)
		return nothing();
	switch (btf_kind(bt)) {
	case BTF_KIND_INT:
		return number(bt, name_at(t, b, bt->name_off));
	case BTF_KIND_FLOAT:
		return (struct ki_d_type){.base = KI_D_FLOAT, .num = (uint8_t)bt->size};
	case BTF_KIND_PTR:
		type = convert(t, b, bt->type, depth + 1);
		type.stars++;
		return type;
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
	case BTF_KIND_FWD:
		return composite(t, b, id);
	case BTF_KIND_ENUM:
	case BTF_KIND_ENUM64:
		return enumeration(t, b, id);
	case BTF_KIND_ARRAY:
		return array(t, b, id, depth);
	case BTF_KIND_FUNC_PROTO:
		return prototype(t, b, id);
	default: /* what gives another one a name or an attribute */
		type = convert(t, b, bt->type, depth + 1);
		if (btf_kind(bt) == BTF_KIND_TYPEDEF)
			ki_d_call(&type, name_at(t, b, bt->name_off));
		return type;
	}
}

/* ---- members ---- */

static int add_member(struct ki_d_def *d, const char *name, struct ki_d_member m)
{
	m.name = strdup(name);
	if (m.name && !ki_vec_push(&d->members, m))
		return 0;
	free(m.name);
	return -ENOMEM;
}

static void load_struct(struct ki_d_types *t, struct ki_d_def *d, const struct btf_type *bt)
{
	const size_t b = d->btf - 1;

	for (unsigned int i = 0; i < btf_vlen(bt); i++) {
		const struct btf_member *m = btf_members(bt) + i;
		struct ki_d_member to = {.type = convert(t, b, m->type, 0),
					 .bit = btf_member_bit_offset(bt, i),
					 .width = btf_member_bitfield_size(bt, i)};

		if (add_member(d, name_at(t, b, m->name_off), to))
			return;
	}
}

static void load_enum(struct ki_d_types *t, struct ki_d_def *d, const struct btf_type *bt)
{
	for (unsigned int i = 0; i < btf_vlen(bt); i++) {
		const bool wide = btf_kind(bt) == BTF_KIND_ENUM64;
		struct ki_d_member to = {
			.value = wide		 ? (int64_t)btf_enum64_value(btf_enum64(bt) + i)
				 : btf_kflag(bt) ? btf_enum(bt)[i].val
						 : (int64_t)(uint32_t)btf_enum(bt)[i].val};
		const uint32_t name = wide ? btf_enum64(bt)[i].name_off : btf_enum(bt)[i].name_off;

		if (add_member(d, name_at(t, d->btf - 1, name), to))
			return;
	}
}

static void load_function(struct ki_d_types *t, struct ki_d_def *d, const struct btf_type *bt)
{
	const size_t b = d->btf - 1;

	d->of = convert(t, b, bt->type, 0);
	for (unsigned int i = 0; i < btf_vlen(bt); i++) {
		const struct btf_param *p = btf_params(bt) + i;

		if (p->type && add_member(d, name_at(t, b, p->name_off),
					  (struct ki_d_member){.type = convert(t, b, p->type, 0)}))
			return;
	}
}

void ki_d_btf_load(struct ki_d_types *t, struct ki_d_def *d)
{
	const struct btf_type *bt = type_at(t, d->btf - 1, d->id);

	d->loaded = true;
	if (d->kind == KI_D_DEF_ENUM)
		load_enum(t, d, bt);
	else if (d->kind == KI_D_DEF_FUNCTION)
		load_function(t, d, bt);
	else
		load_struct(t, d, bt);
}

/* ---- names ---- */

static int find_in(struct ki_d_types *t, size_t b, const char *name, unsigned int kind,
		   struct ki_d_type *out)
{
	int id = b == SIZE_MAX ? -ENOENT
			       : btf__find_by_name_kind(t->btfs.v[b].btf, name, (uint32_t)kind);

	if (id <= 0)
		return -ENOENT;
	*out = convert(t, b, (uint32_t)id, 0);
	return 0;
}

int ki_d_btf_find(struct ki_d_types *t, const char *module, const char *name, unsigned int kind,
		  struct ki_d_type *out)
{
	if (module)
		return find_in(t, module_btf(t, module), name, kind, out);
	return find_in(t, ki_d_btf_known(t) ? 0 : SIZE_MAX, name, kind, out);
}

static size_t any_module(struct ki_d_types *t, DIR *dir, const char *name, unsigned int kind)
{
	size_t found = SIZE_MAX, b;

	for (struct dirent *e = readdir(dir); e && found == SIZE_MAX; e = readdir(dir)) {
		b = *e->d_name == '.' ? SIZE_MAX : module_btf(t, e->d_name);
		if (b != SIZE_MAX &&
		    btf__find_by_name_kind(t->btfs.v[b].btf, name, (uint32_t)kind) > 0)
			found = b;
	}
	return found;
}

int ki_d_btf_find_anywhere(struct ki_d_types *t, const char *name, unsigned int kind,
			   struct ki_d_type *out)
{
	DIR *dir = t->path || !ki_d_btf_known(t) ? NULL : opendir(ROOT);
	size_t b;

	if (!dir)
		return -ENOENT;
	b = any_module(t, dir, name, kind);
	closedir(dir);
	return find_in(t, b, name, kind, out);
}

int ki_d_btf_enumerator(struct ki_d_types *t, const char *name, struct ki_d_type *type,
			int64_t *value)
{
	const struct ki_d_def *d;

	for (uint32_t id = 1; ki_d_btf_known(t) && id < t->btfs.v[0].nids; id++) {
		const struct btf_type *bt = type_at(t, 0, id);
		const bool wide = btf_kind(bt) == BTF_KIND_ENUM64;

		if (!wide && btf_kind(bt) != BTF_KIND_ENUM)
			continue;
		for (unsigned int i = 0; i < btf_vlen(bt); i++) {
			if (strcmp(name_at(t, 0,
					   wide ? btf_enum64(bt)[i].name_off
						: btf_enum(bt)[i].name_off),
				   name) != 0)
				continue;
			*type = enumeration(t, 0, id);
			d = ki_d_def_of(t, *type);
			*value = d && i < d->members.n ? d->members.v[i].value : 0;
			return 0;
		}
	}
	return -ENOENT;
}

#else /* built without libbpf: programs know no types of the kernel */

bool ki_d_btf_known(struct ki_d_types *t)
{
	(void)t;
	return false;
}

void ki_d_btf_close(struct ki_d_types *t)
{
	(void)t;
}

void ki_d_btf_load(struct ki_d_types *t, struct ki_d_def *d)
{
	(void)t;
	d->loaded = true;
}

int ki_d_btf_find(struct ki_d_types *t, const char *module, const char *name, unsigned int kind,
		  struct ki_d_type *out)
{
	(void)t, (void)module, (void)name, (void)kind, (void)out;
	return -ENOENT;
}

int ki_d_btf_find_anywhere(struct ki_d_types *t, const char *name, unsigned int kind,
			   struct ki_d_type *out)
{
	(void)t, (void)name, (void)kind, (void)out;
	return -ENOENT;
}

int ki_d_btf_enumerator(struct ki_d_types *t, const char *name, struct ki_d_type *type,
			int64_t *value)
{
	(void)t, (void)name, (void)type, (void)value;
	return -ENOENT;
}

#endif
