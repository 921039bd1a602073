// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include "dlang/words/types.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void free_def(struct ki_d_def *d)
{
	for (size_t i = 0; i < d->members.n; i++)
		free(d->members.v[i].name);
	ki_vec_free(&d->members);
	free(d->name);
	free(d);
}

void ki_d_types_free(struct ki_d_types *t)
{
	for (size_t i = 0; i < t->defs.n; i++)
		free_def(t->defs.v[i]);
	ki_vec_free(&t->defs);
	ki_d_btf_close(t);
	free(t->path);
}

struct ki_d_def *ki_d_def_new(struct ki_d_types *t, enum ki_d_def_kind kind, const char *name)
{
	struct ki_d_def *d = calloc(1, sizeof(*d));

	if (d)
		d->name = strdup(name);
	if (!d || !d->name || ki_vec_push(&t->defs, d)) {
		if (d)
			free(d->name);
		free(d);
		return NULL;
	}
	d->kind = (uint8_t)kind;
	d->loaded = true;
	d->number = (uint32_t)t->defs.n;
	return d;
}

static struct ki_d_def *def_of(struct ki_d_types *t, struct ki_d_type type)
{
	return type.def && type.def <= t->defs.n ? t->defs.v[type.def - 1] : NULL;
}

const struct ki_d_def *ki_d_def_of(struct ki_d_types *t, struct ki_d_type type)
{
	struct ki_d_def *d = def_of(t, type);

	if (d && !d->loaded)
		ki_d_btf_load(t, d);
	return d;
}

uint64_t ki_d_sizeof(struct ki_d_types *t, struct ki_d_type type)
{
	const struct ki_d_def *d = def_of(t, type);

	if (type.stars)
		return 8;
	switch (type.base) {
	case KI_D_STRUCT:
		return d ? d->size : 0;
	case KI_D_ARRAY:
		return d ? d->n * ki_d_sizeof(t, d->of) : 0;
	case KI_D_VOID:
	case KI_D_FUNCTION:
		return 0;
	case KI_D_FLOAT:
		return type.num;
	default:
		return ki_d_size(type);
	}
}

struct ki_d_type ki_d_pointed(struct ki_d_types *t, struct ki_d_type type)
{
	const struct ki_d_def *d = def_of(t, type);
	struct ki_d_type of;

	if (type.stars) {
		type.stars--;
		return type;
	}
	if (type.base != KI_D_ARRAY || !d)
		return (struct ki_d_type){.base = KI_D_VOID};
	of = d->of;
	of.called = type.called;
	return of;
}

struct ki_d_type ki_d_array_of(struct ki_d_types *t, struct ki_d_type of, uint64_t n)
{
	struct ki_d_def *d = NULL;

	for (size_t i = 0; !d && i < t->defs.n; i++) {
		struct ki_d_def *k = t->defs.v[i];

		if (k->kind == KI_D_DEF_ARRAY && k->n == n && ki_d_same_type(k->of, of))
			d = k;
	}
	if (!d)
		d = ki_d_def_new(t, KI_D_DEF_ARRAY, "");
	if (!d)
		return (struct ki_d_type){.base = KI_D_VOID};
	d->of = of;
	d->n = n;
	d->complete = true;
	return (struct ki_d_type){.base = KI_D_ARRAY, .def = d->number, .called = of.called};
}

bool ki_d_is_text(struct ki_d_types *t, struct ki_d_type type)
{
	const struct ki_d_def *d = def_of(t, type);

	return ki_d_is_array(type) && d && !d->of.stars && d->of.base == KI_D_INT &&
	       ki_d_size(d->of) == 1;
}

/* ---- names ---- */

static struct ki_d_def *declared(const struct ki_d_types *t, enum ki_d_def_kind kind,
				 const char *name)
{
	for (size_t i = t->defs.n; i-- > 0;)
		if (t->defs.v[i]->kind == kind && !t->defs.v[i]->btf &&
		    !strcmp(t->defs.v[i]->name, name))
			return t->defs.v[i];
	return NULL;
}

/* The numbers of BTF's kinds: linux/btf.h. */
static const uint8_t btf_kinds[] = {
	[KI_D_DEF_STRUCT] = 4,	[KI_D_DEF_UNION] = 5,	  [KI_D_DEF_ENUM] = 6,
	[KI_D_DEF_TYPEDEF] = 8, [KI_D_DEF_FUNCTION] = 12,
};
#define BTF_VAR	   14
#define BTF_ENUM64 19

int ki_d_typedef_in(struct ki_d_types *t, const char *module, const char *name,
		    struct ki_d_type *out)
{
	return ki_d_btf_find(t, module, name, btf_kinds[KI_D_DEF_TYPEDEF], out);
}

int ki_d_typedef(struct ki_d_types *t, const char *name, struct ki_d_type *out)
{
	const struct ki_d_def *d = declared(t, KI_D_DEF_TYPEDEF, name);

	if (d) {
		*out = d->of;
		ki_d_call(out, d->name);
		return 0;
	}
	return ki_d_typedef_in(t, NULL, name, out);
}

int ki_d_tagged(struct ki_d_types *t, enum ki_d_def_kind kind, const char *module, const char *tag,
		struct ki_d_type *out)
{
	const struct ki_d_def *d = module ? NULL : declared(t, kind, tag);

	if (d) {
		*out = kind == KI_D_DEF_ENUM ? ki_d_int(KI_I32)
					     : (struct ki_d_type){.base = KI_D_STRUCT};
		out->def = d->number;
		return 0;
	}
	if (kind == KI_D_DEF_ENUM && !ki_d_btf_find(t, module, tag, BTF_ENUM64, out))
		return 0;
	if (!ki_d_btf_find(t, module, tag, btf_kinds[kind], out))
		return 0;
	return module ? -ENOENT : ki_d_btf_find_anywhere(t, tag, btf_kinds[kind], out);
}

const struct ki_d_def *ki_d_function_type(struct ki_d_types *t, const char *module,
					  const char *name)
{
	struct ki_d_type type;

	if (ki_d_btf_find(t, module, name, btf_kinds[KI_D_DEF_FUNCTION], &type))
		return NULL;
	return ki_d_def_of(t, type);
}

/* BTF has variables of CPUs only. */
static const struct {
	const char *name, *tag; /* of a struct; a typedef's name */
	enum ki_type num;
	uint8_t stars;
	uint16_t n; /* of an array */
} variables[] = {
	{"jiffies", NULL, KI_U64, 0, 0},
	{"jiffies_64", NULL, KI_U64, 0, 0},
	{"max_pfn", NULL, KI_U64, 0, 0},
	{"min_low_pfn", NULL, KI_U64, 0, 0},
	{"max_low_pfn", NULL, KI_U64, 0, 0},
	{"_totalram_pages", NULL, KI_U64, 0, 0},
	{"loops_per_jiffy", NULL, KI_U64, 0, 0},
	{"total_forks", NULL, KI_U64, 0, 0},
	{"max_threads", NULL, KI_I32, 0, 0},
	{"nr_threads", NULL, KI_I32, 0, 0},
	{"pid_max", NULL, KI_I32, 0, 0},
	{"tsc_khz", NULL, KI_U32, 0, 0},
	{"cpu_khz", NULL, KI_U32, 0, 0},
	{"nr_cpu_ids", NULL, KI_U32, 0, 0},
	{"panic_timeout", NULL, KI_I32, 0, 0},
	{"system_state", NULL, KI_U32, 0, 0},
	{"linux_banner", NULL, KI_I8, 0, 512},
	{"linux_proc_banner", NULL, KI_I8, 0, 512},
	{"saved_command_line", NULL, KI_I8, 1, 0},
	{"init_task", "task_struct", 0, 0, 0},
	{"init_mm", "mm_struct", 0, 0, 0},
	{"init_uts_ns", "uts_namespace", 0, 0, 0},
	{"init_pid_ns", "pid_namespace", 0, 0, 0},
	{"init_net", "net", 0, 0, 0},
	{"boot_cpu_data", "cpuinfo_x86", 0, 0, 0},
	{"avenrun", NULL, KI_U64, 0, 3},
	{"modules", "list_head", 0, 0, 0},
	{"cad_pid", "pid", 0, 1, 0},
	{"crashing_cpu", NULL, KI_I32, 0, 0},
	{"console_printk", NULL, KI_I32, 0, 4},
	{"tainted_mask", NULL, KI_U64, 0, 0},
	{"init_nsproxy", "nsproxy", 0, 0, 0},
	{"init_user_ns", "user_namespace", 0, 0, 0},
	{"init_cred", "cred", 0, 0, 0},
	{"init_files", "files_struct", 0, 0, 0},
	{"init_fs", "fs_struct", 0, 0, 0},
	{"super_blocks", "list_head", 0, 0, 0},
	{"net_namespace_list", "list_head", 0, 0, 0},
	{"file_systems", "file_system_type", 0, 1, 0},
	{"panic_on_oops", NULL, KI_I32, 0, 0},
	{"oops_in_progress", NULL, KI_I32, 0, 0},
	{"vm_swappiness", NULL, KI_I32, 0, 0},
	{"sysctl_sched_base_slice", NULL, KI_U32, 0, 0},
	{"zero_pfn", NULL, KI_U64, 0, 0},
	{"__cpu_online_mask", "cpumask", 0, 0, 0},
	{"__cpu_possible_mask", "cpumask", 0, 0, 0},
	{"root_mem_cgroup", "mem_cgroup", 0, 1, 0},
	{"tasklist_lock", "rwlock_t", 0, 0, 0},
	{"bpf_verifier_lock", "mutex", 0, 0, 0},
	{"module_mutex", "mutex", 0, 0, 0},
	{"text_mutex", "mutex", 0, 0, 0},
	{"pernet_ops_rwsem", "rw_semaphore", 0, 0, 0},
};

int ki_d_variable_type(struct ki_d_types *t, const char *module, const char *name,
		       struct ki_d_type *out)
{
	for (size_t i = 0; i < sizeof(variables) / sizeof(*variables); i++) {
		if (strcmp(variables[i].name, name) != 0)
			continue;
		*out = ki_d_int(variables[i].num);
		if (variables[i].tag &&
		    ki_d_tagged(t, KI_D_DEF_STRUCT, NULL, variables[i].tag, out) &&
		    ki_d_typedef(t, variables[i].tag, out))
			return -ENOENT;
		out->stars = variables[i].stars;
		if (variables[i].n)
			*out = ki_d_array_of(t, *out, variables[i].n);
		return 0;
	}
	return ki_d_btf_find(t, module, name, BTF_VAR, out);
}

int ki_d_enumerator(struct ki_d_types *t, const char *name, struct ki_d_type *type, int64_t *value)
{
	for (size_t i = 0; i < t->defs.n; i++) {
		const struct ki_d_def *d = t->defs.v[i];

		for (size_t k = 0; d->kind == KI_D_DEF_ENUM && k < d->members.n; k++) {
			if (strcmp(d->members.v[k].name, name) != 0)
				continue;
			*type = ki_d_int(KI_I32);
			type->def = d->number;
			*value = d->members.v[k].value;
			return 0;
		}
	}
	return ki_d_btf_enumerator(t, name, type, value);
}

/* ---- members ---- */

const struct ki_d_member *ki_d_member_find(struct ki_d_types *t, struct ki_d_type type,
					   const char *name, uint64_t *bit)
{
	const struct ki_d_def *d = ki_d_def_of(t, type);
	uint64_t inside;

	if (!d || type.base != KI_D_STRUCT)
		return NULL;
	for (size_t i = 0; i < d->members.n; i++) {
		const struct ki_d_member *m = &d->members.v[i], *found;

		if (*m->name && !strcmp(m->name, name)) {
			*bit = m->bit;
			return m;
		}
		if (*m->name || !ki_d_is_struct(m->type))
			continue;
		found = ki_d_member_find(t, m->type, name, &inside);
		if (found) {
			*bit = m->bit + inside;
			return found;
		}
		d = ki_d_def_of(t, type);
	}
	return NULL;
}
