// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include "module/types.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#if __has_include(<bpf/btf.h>)
#include <bpf/btf.h>
#include <bpf/libbpf.h>

static int quiet(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	(void)level;
	(void)fmt;
	(void)ap;
	return 0;
}

static const struct btf_type *find_struct(const struct btf *btf, const char *name)
{
	const int id = btf__find_by_name_kind(btf, name, BTF_KIND_STRUCT);

	return id > 0 ? btf__type_by_id(btf, (uint32_t)id) : NULL;
}

static uint32_t offset_of(const struct btf *btf, const char *structure, const char *name)
{
	const struct btf_type *s = find_struct(btf, structure);

	for (uint32_t i = 0; s && i < btf_vlen(s); i++)
		if (!strcmp(btf__name_by_offset(btf, btf_members(s)[i].name_off), name))
			return btf_member_bit_offset(s, i) / 8;
	return KI_NO_MEMBER;
}

/* A structure that is a member of another one is taken to be the only one of its type there. */
static uint32_t offset_of_type(const struct btf *btf, const char *structure, const char *type)
{
	const struct btf_type *s = find_struct(btf, structure);

	for (uint32_t i = 0; s && i < btf_vlen(s); i++) {
		const struct btf_type *t = btf__type_by_id(btf, btf_members(s)[i].type);

		if (t && !strcmp(btf__name_by_offset(btf, t->name_off), type))
			return btf_member_bit_offset(s, i) / 8;
	}
	return KI_NO_MEMBER;
}

static void find_member(const struct btf *btf, struct ki_member *m)
{
	const uint32_t outer = m->of ? offset_of_type(btf, m->of, m->in) : 0;

	m->off = offset_of(btf, m->in, m->name);
	if (m->off != KI_NO_MEMBER)
		m->off = outer == KI_NO_MEMBER ? KI_NO_MEMBER : m->off + outer;
}

/* NULL: it cannot be had. */
static struct btf *read_kernel(void)
{
	const libbpf_print_fn_t was = libbpf_set_print(quiet);
	struct btf *btf = btf__parse("/sys/kernel/btf/vmlinux", NULL);

	libbpf_set_print(was);
	return libbpf_get_error(btf) ? NULL : btf;
}

static struct btf *read_module(const char *module, struct btf *kernel)
{
	const libbpf_print_fn_t was = libbpf_set_print(quiet);
	struct btf *btf;
	char path[96];

	snprintf(path, sizeof(path), "/sys/kernel/btf/%.64s", module);
	btf = btf__parse_split(path, kernel);
	libbpf_set_print(was);
	return libbpf_get_error(btf) ? NULL : btf;
}

/* 0: it is passed otherwise than in one register. */
static unsigned int bytes_of(const struct btf *btf, uint32_t id, bool *number)
{
	const struct btf_type *t = btf__type_by_id(btf, id);

	while (t && (btf_is_mod(t) || btf_is_typedef(t)))
		t = btf__type_by_id(btf, t->type);
	*number = t && !btf_is_ptr(t);
	if (!t)
		return 0;
	if (btf_is_ptr(t))
		return 8;
	return (btf_is_int(t) || btf_is_any_enum(t)) && t->size <= 8 ? t->size : 0;
}

/* After one that is passed otherwise nothing is known. */
static void read_arguments(const struct btf *btf, const char *function, struct ki_argument *v,
			   size_t n)
{
	const int id = btf__find_by_name_kind(btf, function, BTF_KIND_FUNC);
	const struct btf_type *t = id > 0 ? btf__type_by_id(btf, (uint32_t)id) : NULL;

	t = t ? btf__type_by_id(btf, t->type) : NULL;
	for (uint32_t i = 0; t && i < n && i < btf_vlen(t); i++) {
		v[i].bytes = bytes_of(btf, btf_params(t)[i].type, &v[i].number);
		if (!v[i].bytes)
			break;
	}
}

void ki_kernel_arguments(const char *module, const char *function, struct ki_argument *v, size_t n)
{
	struct btf *kernel = read_kernel(), *own = NULL;

	memset(v, 0, n * sizeof(*v));
	if (kernel && *module)
		own = read_module(module, kernel);
	if (kernel && (own || !*module))
		read_arguments(own ? own : kernel, function, v, n);
	btf__free(own);
	btf__free(kernel);
}

int ki_kernel_types(struct ki_member *members, size_t nmembers, struct ki_structure *structures,
		    size_t nstructures, struct ki_err *err)
{
	struct btf *btf = read_kernel();

	if (!btf)
		return ki_err_set(
			err, -ENOTSUP, 0,
			"the kernel tells no types (CONFIG_DEBUG_INFO_BTF): what a module "
			"looks like is not known");
	for (size_t i = 0; i < nmembers; i++)
		find_member(btf, &members[i]);
	for (size_t i = 0; i < nstructures; i++) {
		const struct btf_type *s = find_struct(btf, structures[i].name);

		structures[i].size = s ? s->size : 0;
	}
	btf__free(btf);
	return 0;
}

#else

void ki_kernel_arguments(const char *module, const char *function, struct ki_argument *v, size_t n)
{
	(void)module;
	(void)function;
	memset(v, 0, n * sizeof(*v));
}

int ki_kernel_types(struct ki_member *members, size_t nmembers, struct ki_structure *structures,
		    size_t nstructures, struct ki_err *err)
{
	(void)members;
	(void)nmembers;
	(void)structures;
	(void)nstructures;
	return ki_err_set(err, -ENOTSUP, 0,
			  "this library was built without libbpf, which reads the kernel's types");
}

#endif
