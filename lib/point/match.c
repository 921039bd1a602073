// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include "kerninst/match.h"

#include <errno.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NEAR_MAX   5
#define NEAR_EDITS 3

bool ki_match_is_padding(const struct ki_symbol *sym)
{
	return !strncmp(sym->name, "__pfx_", 6);
}

static bool is_glob(const struct ki_pointspec *spec)
{
	return ki_pointspec_is_glob(spec->function);
}

int ki_match_each(struct ki_target *t, const struct ki_pointspec *spec, ki_match_fn *fn, void *ctx,
		  size_t *count)
{
	const struct ki_symbol *sym = NULL, *all;
	size_t n;
	int ret = 0;

	*count = 0;
	if (!is_glob(spec)) {
		while (!ret &&
		       (sym = ki_target_symbol_named(t, NULL, spec->function, sym)) != NULL) {
			if (!ki_pointspec_matches(spec, sym->module, sym->name, sym->addr))
				continue;
			++*count;
			ret = fn(ctx, sym);
		}
		return ret;
	}
	all = ki_target_symbols(t, &n);
	for (size_t i = 0; !ret && i < n; i++) {
		if (all[i].alias || ki_match_is_padding(&all[i]) ||
		    !ki_pointspec_matches(spec, all[i].module, all[i].name, all[i].addr))
			continue;
		++*count;
		ret = fn(ctx, &all[i]);
	}
	return ret;
}

struct near {
	const char *name;
	unsigned int rank;
};

/* How near a name is: edits, or after those how much longer a name is that contains it. */
static unsigned int rank_of(const char *wanted, const char *name)
{
	unsigned int d = ki_pointspec_distance(wanted, name, NEAR_EDITS);

	if (d <= NEAR_EDITS && d < strlen(wanted))
		return d;
	if (strlen(wanted) >= 3 && strstr(name, wanted))
		return NEAR_EDITS + (unsigned int)(strlen(name) - strlen(wanted));
	return UINT32_MAX;
}

/* Keep the list in order of rank, each name once. */
static size_t keep_near(struct near *v, size_t n, struct near one)
{
	size_t i = n;

	for (size_t k = 0; k < n; k++)
		if (!strcmp(v[k].name, one.name))
			return n;
	while (i && v[i - 1].rank > one.rank)
		i--;
	if (i == NEAR_MAX)
		return n;
	if (n == NEAR_MAX)
		n--;
	memmove(v + i + 1, v + i, (n - i) * sizeof(*v));
	v[i] = one;
	return n + 1;
}

static bool module_exists(struct ki_target *t, const struct ki_pointspec *spec)
{
	struct ki_pointspec any = *spec;
	size_t n;
	const struct ki_text_range *r = ki_target_ranges(t, &n);

	strcpy(any.function, "*");
	any.picked = 0;
	for (size_t i = 0; i < n; i++)
		if (ki_pointspec_matches(&any, r[i].module, "", 0))
			return true;
	return false;
}

static bool is_module(struct ki_target *t, const char *name)
{
	struct ki_pointspec spec = {0};

	if (strlen(name) >= sizeof(spec.module))
		return false;
	strcpy(spec.module, name);
	return module_exists(t, &spec);
}

static size_t find_near(struct ki_target *t, const char *wanted, struct near near[NEAR_MAX])
{
	size_t n, count = 0;
	const struct ki_symbol *all = ki_target_symbols(t, &n);

	for (size_t i = 0; i < n; i++) {
		struct near one = {all[i].name, rank_of(wanted, all[i].name)};

		if (one.rank != UINT32_MAX && !ki_match_is_padding(&all[i]))
			count = keep_near(near, count, one);
	}
	return count;
}

static void tell_near(char why[KI_MATCH_WHY], const struct near *near, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		size_t at = strlen(why);

		snprintf(why + at, KI_MATCH_WHY - at, "%s%.120s",
			 i ? ", " : "; near: ", near[i].name);
	}
}

/* A process's files go by their own names; what programs are linked with is often a link's. */
static void no_module(struct ki_target *t, const char *wanted, char why[KI_MATCH_WHY])
{
	struct near near[NEAR_MAX];
	size_t n, count = 0;
	const struct ki_text_range *r = ki_target_ranges(t, &n);
	const char *kernel = "";

	for (size_t i = 0; i < n; i++) {
		struct near one = {r[i].module, rank_of(wanted, r[i].module)};

		if (!*r[i].module)
			kernel = "; the kernel itself is '" KI_POINTSPEC_KERNEL "'";
		else if (one.rank != UINT32_MAX)
			count = keep_near(near, count, one);
	}
	snprintf(why, KI_MATCH_WHY, "no module '%s'%s", wanted, kernel);
	tell_near(why, near, count);
}

void ki_match_nothing(struct ki_target *t, const struct ki_pointspec *spec, char why[KI_MATCH_WHY])
{
	struct near near[NEAR_MAX];

	if (*spec->module && !module_exists(t, spec)) {
		no_module(t, spec->module, why);
		return;
	}
	if (!*spec->module && is_module(t, spec->function)) {
		snprintf(why, KI_MATCH_WHY,
			 "'%s' is a module, and no function; '%s:*' means all that it has",
			 spec->function, spec->function);
		return;
	}
	if (is_glob(spec)) {
		snprintf(why, KI_MATCH_WHY,
			 "no function matches '%s'; kerninst list shows what there is",
			 spec->function);
		return;
	}
	if (spec->picked && ki_target_symbol_named(t, NULL, spec->function, NULL)) {
		snprintf(why, KI_MATCH_WHY,
			 "no function '%s' at 0x%" PRIx64 "; kerninst list '%s' shows where",
			 spec->function, spec->picked, spec->function);
		return;
	}
	snprintf(why, KI_MATCH_WHY, "no function '%s'", spec->function);
	tell_near(why, near, find_near(t, spec->function, near));
}

bool ki_match_is_ambiguous(struct ki_target *t, const struct ki_symbol *sym)
{
	const struct ki_symbol *s = NULL;

	while ((s = ki_target_symbol_named(t, sym->module, sym->name, s)) != NULL)
		if (s->addr != sym->addr)
			return true;
	return false;
}

struct first {
	const struct ki_symbol *sym;
	size_t others;
};

static int take_first(void *ctx, const struct ki_symbol *sym)
{
	struct first *f = ctx;

	if (!f->sym)
		f->sym = sym;
	else
		f->others += sym->addr != f->sym->addr;
	return 0;
}

int ki_match_first(struct ki_target *t, const struct ki_pointspec *spec, const char *text,
		   const struct ki_symbol **sym, size_t *others, struct ki_err *err)
{
	struct first f = {0};
	size_t count;

	if (spec->suffix == KI_POINTSPEC_ADDRESS) {
		f.sym = ki_target_symbol_at(t, spec->number);
		if (!f.sym)
			return ki_err_set(err, -EFAULT, spec->number, "%s: %s; %s", text,
					  ki_reason_text(KI_R_NOT_TEXT),
					  ki_reason_hint(KI_R_NOT_TEXT));
	} else {
		ki_match_each(t, spec, take_first, &f, &count);
	}
	*sym = f.sym;
	*others = f.others;
	return f.sym ? 0 : -ENOENT;
}
