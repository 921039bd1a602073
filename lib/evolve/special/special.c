// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * A version of a function: made, put in, taken out.
 *
 * Put in: the module first, then the guard and the direct calls. Taken out: they first; the driver
 * lets go of the module when nobody is in it, and then it is unloaded. If this process dies in
 * between, the driver takes the guard out, and the module stays, unused, until somebody unloads it.
 * Between the windows of a trial it stays loaded: some task may sleep in it all the time.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "evolve/special/inside.h"
#include "module/types.h"

#define UNLOAD_SECONDS 10

/* Names in one process's modules differ by a number, in those of others by theirs. */
static char *module_name(void)
{
	static unsigned int made;
	char name[56];

	snprintf(name, sizeof(name), KI_COPIES_PREFIX "%d_%u", (int)getpid(),
		 __atomic_add_fetch(&made, 1, __ATOMIC_RELAXED));
	return strdup(name);
}

bool ki_special_is_half(const struct ki_target *t, const struct ki_symbol *sym,
			unsigned int argument)
{
	struct ki_argument v[KI_SPECIAL_ARGUMENTS] = {0};

	if (ki_target_kind(t) == KI_TARGET_LIVE && argument < KI_SPECIAL_ARGUMENTS)
		ki_kernel_arguments(sym->module, sym->name, v, argument + 1);
	return argument < KI_SPECIAL_ARGUMENTS && v[argument].bytes == 4;
}

static int make(struct ki_special *s, struct ki_err *err)
{
	int ret = ki_special_sites_read(s, err);

	s->half = ki_special_is_half(s->t, s->request.sym, s->request.argument);
	s->facts.half = s->half;
	if (!ret)
		ret = ki_special_copies(s, err);
	if (!ret)
		ret = ki_special_rows(s, err);
	return ret ? ret : ki_special_sites_rows(s, err);
}

int ki_special_new(struct ki_target *t, const struct ki_special_request *request,
		   struct ki_special **out, struct ki_err *err)
{
	struct ki_special *s = calloc(1, sizeof(*s));
	int ret = -ENOMEM;

	*out = NULL;
	if (request->argument >= KI_SPECIAL_ARGUMENTS ||
	    request->value != (uint64_t)(int32_t)request->value) {
		free(s);
		return ki_err_set(err, -ERANGE, request->sym->addr,
				  "%s: one of the first %d arguments, and a value of 32 bits, are "
				  "expected",
				  request->sym->name, KI_SPECIAL_ARGUMENTS);
	}
	if (s) {
		s->t = t;
		s->request = *request;
		s->addr = request->sym->addr;
		s->original = strdup(request->sym->name);
		s->module = module_name();
		s->of = strdup(request->sym->module);
		ki_special_memory_find(t, &s->memory);
	}
	if (!s || !s->original || !s->module || !s->of)
		ret = ki_err_set(err, -ENOMEM, request->sym->addr, "a version: out of memory");
	else
		ret = make(s, err);
	if (ret)
		ki_special_free(s);
	else
		*out = s;
	return ret;
}

void ki_special_facts(const struct ki_special *s, struct ki_special_facts *out)
{
	*out = s->facts;
}

static int load(struct ki_special *s, struct ki_err *err)
{
	struct ki_module_function names[16];
	struct ki_module_code code = {.name = s->module,
				      .code = s->emitted.code,
				      .len = s->emitted.len,
				      .row_size = s->row_size,
				      .fixes = s->emitted.fixes.v,
				      .nfixes = s->emitted.fixes.n,
				      .functions = names,
				      .nfunctions = s->copies.n,
				      .rows = s->rows.v,
				      .nrows = s->rows.n,
				      .jumps = s->jumps.v,
				      .njumps = s->jumps.n,
				      .calls = s->calls.v,
				      .ncalls = s->calls.n,
				      .faults = s->faults.v,
				      .nfaults = s->faults.n,
				      .bugs = s->bugs.v,
				      .nbugs = s->bugs.n};
	struct ki_module_kernel kernel;
	void *file = NULL;
	size_t size;
	int ret = ki_module_kernel_read(s->t, &kernel, err);

	for (size_t i = 0; i < s->copies.n; i++)
		names[i] = (struct ki_module_function){s->copies.v[i].name, s->code.v[i].off,
						       s->code.v[i].size};
	if (!ret)
		ret = ki_module_first_states(s->t, s->jumps.v, s->jumps.n, err);
	if (!ret)
		ret = ki_module_build(&kernel, &code, &file, &size, err);
	if (!ret)
		ret = ki_module_load(s->t, file, size, err);
	s->loaded = !ret;
	free(file);
	return ret;
}

/* Symbols are others since the module has been loaded. */
static int plan(struct ki_special *s, struct ki_err *err)
{
	const struct ki_guard guard = {(uint8_t)ki_special_register(s->request.argument),
				       s->request.value, s->half};
	struct ki_replacement r = {.text = s->original, .guard = &guard};
	int ret;

	r.in = ki_target_symbol_at(s->t, s->addr);
	r.to = ki_target_symbol_named(s->t, s->module, s->copies.v[0].name, NULL);
	if (!r.in || !r.to)
		return ki_err_set(
			err, -ENOENT, s->addr,
			"%s: kallsyms has no symbol of the version, which has been loaded",
			s->original);
	if (ki_plan_new(&s->plan))
		return ki_err_set(err, -ENOMEM, s->addr, "%s: out of memory", s->original);
	ret = ki_plan_replacement(s->plan, s->t, &r, err);
	if (!ret && s->request.callers)
		ret = ki_special_callers(s, &r, &s->facts.calls, err);
	if (!ret)
		ret = ki_special_give_way(s, err);
	return ret ? ret : ki_plan_apply(s->plan, s->t, false, err);
}

int ki_special_give_way(struct ki_special *s, struct ki_err *err)
{
	return s->plan ? ki_plan_give_way(s->plan, s->t, NULL, NULL, err) : 0;
}

int ki_special_install(struct ki_special *s, struct ki_err *err)
{
	struct ki_err ignored = {0};
	size_t n;
	int ret;

	ki_special_clean(s->t, &n, &ignored);
	ret = s->loaded ? 0 : load(s, err);
	if (!ret)
		ret = plan(s, err);
	if (ret)
		ki_special_undo(s, &ignored);
	return ret;
}

int ki_special_leave(struct ki_special *s, struct ki_err *err)
{
	int ret = s->plan ? ki_plan_remove(s->plan, s->t, err) : 0;

	/* It may have been taken out by others. As long as it is in, the module is held. */
	ki_plan_free(s->plan);
	s->plan = NULL;
	s->facts.calls = 0;
	return ret;
}

int ki_special_undo(struct ki_special *s, struct ki_err *err)
{
	struct ki_err later = {0};
	int ret = ki_special_leave(s, err);

	if (s->loaded) {
		const int gone =
			ki_special_unload(s->t, s->module, UNLOAD_SECONDS, ret ? &later : err);

		s->loaded = gone;
		ret = ret ? ret : gone;
	}
	return ret;
}

void ki_special_free(struct ki_special *s)
{
	struct ki_err ignored = {0};

	if (!s)
		return;
	if (s->loaded || s->plan)
		ki_special_undo(s, &ignored);
	ki_plan_free(s->plan);
	for (size_t i = 0; i < s->copies.n; i++) {
		ki_function_free(s->copies.v[i].fn);
		free(s->copies.v[i].name);
	}
	for (size_t i = 0; i < s->code.n; i++) {
		ki_fold_free(&s->code.v[i].folded);
		ki_vec_free(&s->code.v[i].links);
	}
	ki_vec_free(&s->copies);
	ki_vec_free(&s->code);
	ki_vec_free(&s->rows);
	ki_special_sites_free(s);
	ki_emit_free(&s->emitted);
	free(s->original);
	free(s->module);
	free(s->of);
	free(s);
}
