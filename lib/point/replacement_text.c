// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* A replacement, as people write it: WHAT=FUNCTION. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kerninst/match.h"
#include "kerninst/replacement_text.h"

struct reading {
	struct ki_target *t;
	char *why;
	struct ki_err *err;
};

static int nothing(struct reading *r, const struct ki_pointspec *spec)
{
	ki_match_nothing(r->t, spec, r->why);
	return ki_err_set(r->err, -ENOENT, 0, "%s", r->why);
}

/* One argument, resolved. */
static int take_first(void *ctx, const struct ki_symbol *sym)
{
	const struct ki_symbol **out = ctx;

	if (!*out)
		*out = sym;
	return 0;
}

/* The one function that a text names; spec: what stands after the name. */
static int one_function(struct reading *r, const char *text, struct ki_pointspec *spec,
			const struct ki_symbol **out)
{
	const char *why;
	size_t count;
	int ret;

	if (ki_pointspec_parse(text, spec, &why))
		return ki_err_set(r->err, -EINVAL, 0, "'%s': %s", text, why);
	if (ki_pointspec_is_glob(spec->function) ||
	    (spec->suffix != KI_POINTSPEC_NONE && spec->suffix != KI_POINTSPEC_OFFSET))
		return ki_err_set(r->err, -EINVAL, 0, "'%s': one function, or FUNCTION+OFFSET",
				  text);
	*out = NULL;
	ret = ki_match_each(r->t, spec, take_first, out, &count);
	if (ret)
		return ret;
	if (!count)
		return nothing(r, spec);
	if (count > 1)
		return ki_err_set(r->err, -ENOTUNIQ, 0,
				  "%s: %zu functions have this name; pick one with %s@0xADDRESS: "
				  "kerninst list %s shows where they are",
				  text, count, text, text);
	return 0;
}

static int take_left(struct reading *r, char *left, struct ki_replacement *w)
{
	char *arrow = strstr(left, "->");
	struct ki_pointspec spec;
	int ret;

	if (arrow)
		*arrow = '\0';
	ret = one_function(r, left, &spec, &w->in);
	if (ret || !arrow) {
		w->offset = spec.suffix == KI_POINTSPEC_OFFSET ? spec.number : 0;
		return ret;
	}
	if (spec.suffix != KI_POINTSPEC_NONE)
		return ki_err_set(r->err, -EINVAL, 0,
				  "'%s': CALLER->FUNCTION or CALLER+OFFSET, not both", w->text);
	ret = one_function(r, arrow + 2, &spec, &w->callee);
	if (!ret && spec.suffix != KI_POINTSPEC_NONE)
		return ki_err_set(r->err, -EINVAL, 0, "'%s': a function is called at its beginning",
				  w->text);
	return ret;
}

static int take_apart(struct reading *r, const char *text, struct ki_replacement *w)
{
	char *copy = strdup(text), *equals = copy ? strchr(copy, '=') : NULL;
	struct ki_pointspec spec;
	int ret;

	w->text = text;
	if (!copy)
		return ki_err_set(r->err, -ENOMEM, 0, "out of memory");
	if (!equals) {
		free(copy);
		return ki_err_set(r->err, -EINVAL, 0, "'%s': WHAT=FUNCTION", text);
	}
	*equals = '\0';
	ret = take_left(r, copy, w);
	if (!ret)
		ret = one_function(r, equals + 1, &spec, &w->to);
	if (!ret && spec.suffix != KI_POINTSPEC_NONE)
		ret = ki_err_set(r->err, -EINVAL, 0, "'%s': a replacement is a function", text);
	if (!ret && !w->callee && !w->offset && w->in->addr == w->to->addr)
		ret = ki_err_set(r->err, -ELOOP, 0, "%s: a function cannot replace itself", text);
	free(copy);
	return ret;
}

int ki_replacement_parse(struct ki_target *t, const char *text, struct ki_replacement *w,
			 char why[KI_MATCH_WHY], struct ki_err *err)
{
	struct reading r = {t, why, err};

	return take_apart(&r, text, w);
}
