// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <string.h>

#include "dlang/check/check.h"
#include "dlang/probe/user.h"

static const char *const levels[KI_D_LEVELS] = {"Internal", "Private",	"Obsolete", "External",
						"Unstable", "Evolving", "Stable",   "Standard"};
static const char *const classes[KI_D_CLASSES] = {"Unknown", "CPU", "Platform",
						  "Group",   "ISA", "Common"};

#define STABLE	 ((struct ki_d_attributes){KI_D_STABLE, KI_D_STABLE, KI_D_COMMON})
#define EVOLVING ((struct ki_d_attributes){KI_D_EVOLVING, KI_D_EVOLVING, KI_D_COMMON})
#define UNSTABLE ((struct ki_d_attributes){KI_D_UNSTABLE, KI_D_UNSTABLE, KI_D_COMMON})
#define PRIVATE	 ((struct ki_d_attributes){KI_D_PRIVATE, KI_D_PRIVATE, KI_D_UNKNOWN})
#define LEVEL(level, class)                                                                        \
	{                                                                                          \
		KI_D_##level, KI_D_##level, KI_D_##class                                           \
	}

#define NOTHING LEVEL(PRIVATE, UNKNOWN)
#define FUNCTION                                                                                   \
	{                                                                                          \
		LEVEL(EVOLVING, COMMON), NOTHING, LEVEL(PRIVATE, ISA), LEVEL(EVOLVING, COMMON),    \
			LEVEL(PRIVATE, ISA)                                                        \
	}
/* Modules and functions are private; names and arguments differ. */
#define PLACE(names, arguments)                                                                    \
	{                                                                                          \
		LEVEL(EVOLVING, ISA), NOTHING, NOTHING, names, arguments                           \
	}

/* Of a provider's names: itself, modules, functions, names; arguments. The last row: all others. */
static const struct row {
	const char *provider;
	struct ki_d_attributes of[5];
} rows[] = {
	{"dtrace",
	 {LEVEL(STABLE, COMMON), NOTHING, NOTHING, LEVEL(STABLE, COMMON), LEVEL(STABLE, COMMON)}},
	{"profile",
	 {LEVEL(EVOLVING, COMMON), LEVEL(UNSTABLE, UNKNOWN), NOTHING, LEVEL(EVOLVING, COMMON),
	  LEVEL(EVOLVING, COMMON)}},
	{"cpc",
	 {LEVEL(EVOLVING, COMMON), LEVEL(UNSTABLE, UNKNOWN), NOTHING, LEVEL(EVOLVING, COMMON),
	  LEVEL(EVOLVING, COMMON)}},
	{"fbt", FUNCTION},
	{"rawfbt", FUNCTION},
	{"syscall", FUNCTION},
	{"sdt", PLACE(LEVEL(PRIVATE, ISA), LEVEL(PRIVATE, ISA))},
	{"rawtp", PLACE(LEVEL(PRIVATE, ISA), LEVEL(PRIVATE, ISA))},
	{"pid", PLACE(LEVEL(EVOLVING, ISA), NOTHING)},
	{NULL, PLACE(LEVEL(EVOLVING, ISA), LEVEL(EVOLVING, ISA))},
};

static const struct row *row_of(const char *provider)
{
	const struct row *r = rows;

	while (r->provider && strncmp(provider, r->provider, strlen(r->provider)) != 0)
		r++;
	return r;
}

static uint8_t smaller(uint8_t a, uint8_t b)
{
	return a < b ? a : b;
}

static struct ki_d_attributes least(struct ki_d_attributes a, struct ki_d_attributes b)
{
	return (struct ki_d_attributes){smaller(a.names, b.names), smaller(a.data, b.data),
					smaller(a.class, b.class)};
}

/* ---- as texts, as numbers ---- */

static bool find(const char *word, const char *const *words, uint8_t n, uint8_t *out)
{
	for (*out = 0; *out < n; ++*out)
		if (word && !strcmp(word, words[*out]))
			return true;
	return false;
}

bool ki_d_attributes_of(char *text, struct ki_d_attributes *out)
{
	char *save, *names = strtok_r(text, "/", &save), *data = strtok_r(NULL, "/", &save),
		    *class = strtok_r(NULL, "/", &save);

	return find(names, levels, KI_D_LEVELS, &out->names) &&
	       find(data, levels, KI_D_LEVELS, &out->data) &&
	       find(class, classes, KI_D_CLASSES, &out->class);
}

int64_t ki_d_attributes_packed(struct ki_d_attributes a)
{
	return 1 + a.names + 8 * (a.data + 8 * a.class);
}

struct ki_d_attributes ki_d_attributes_unpacked(int64_t n)
{
	n--;
	return (struct ki_d_attributes){(uint8_t)(n & 7), (uint8_t)(n >> 3 & 7), (uint8_t)(n >> 6)};
}

static struct ki_dlang_stability as_text(struct ki_d_attributes a)
{
	return (struct ki_dlang_stability){levels[a.names], levels[a.data], classes[a.class]};
}

/* ---- of what a clause names, before it is checked ---- */

static bool is_of_kernel(const struct ki_dlang *d, struct ki_d_type t)
{
	return t.def && d->types.defs.v[t.def - 1]->btf;
}

static bool leads_to_kernel(const struct ki_dlang *d, const struct ki_d_node *n)
{
	if (n->kind == KI_D_SYMBOL || (n->kind == KI_D_NAME && !strcmp(n->text, "curthread")))
		return true;
	if (n->kind == KI_D_CAST)
		return is_of_kernel(d, n->about);
	return n->kid[0] && n->kind != KI_D_CALL && leads_to_kernel(d, n->kid[0]);
}

static struct ki_d_attributes of_name(const struct ki_dlang *d, const struct ki_d_node *n)
{
	switch (n->kind) {
	case KI_D_NAME:
		if (strcmp(n->text, "curthread") != 0)
			return STABLE;
		return (struct ki_d_attributes){KI_D_STABLE, KI_D_PRIVATE, KI_D_COMMON};
	case KI_D_CALL:
		return strcmp(n->text, "d_path") != 0 ? STABLE : EVOLVING;
	case KI_D_SYMBOL:
		return PRIVATE;
	case KI_D_MEMBER:
	case KI_D_DEREF:
		return leads_to_kernel(d, n->kid[0]) ? PRIVATE : STABLE;
	case KI_D_CAST:
	case KI_D_SIZEOF:
	case KI_D_OFFSETOF:
		return is_of_kernel(d, n->about) ? PRIVATE : STABLE;
	default:
		return STABLE;
	}
}

struct walk {
	const struct ki_dlang *d;
	struct ki_d_attributes least, wanted;
	const struct ki_d_node *worse; /* the first that has less than is wanted */
};

static void look(struct walk *w, const struct ki_d_node *list)
{
	for (const struct ki_d_node *n = list; n; n = n->next) {
		const struct ki_d_attributes a = of_name(w->d, n);

		for (unsigned int i = 0; i < 3; i++)
			look(w, n->kid[i]);
		w->least = least(w->least, a);
		if (!w->worse && (a.names < w->wanted.names || a.data < w->wanted.data ||
				  a.class < w->wanted.class))
			w->worse = n;
	}
}

int ki_d_check_attributes(struct ki_d_checker *c)
{
	struct ki_dlang *d = c->d;

	for (size_t i = 0; i < d->clauses.n; i++) {
		struct walk w = {.d = d, .least = STABLE};

		if (d->set.amin)
			w.wanted = ki_d_attributes_unpacked(d->set.amin);
		look(&w, d->clauses.v[i].predicate);
		look(&w, d->clauses.v[i].body);
		d->clauses.v[i].least = w.least;
		if (w.worse)
			return ki_d_fail(d, c->err, w.worse->at, "D_ATTR_MIN",
					 "%.40s is less stable than option amin says",
					 w.worse->text);
	}
	return 0;
}

/* ---- lists ---- */

void ki_dlang_stability(const struct ki_dlang *d, size_t i, struct ki_dlang_stability *probe,
			struct ki_dlang_stability *arguments)
{
	const struct row *r = row_of(ki_d_provider_name(&d->probes.v[i]));
	const struct ki_d_hook *h = d->probes.v[i].hook;
	struct ki_d_attributes a = r->of[0];

	for (unsigned int k = 1; k < 4; k++)
		a = least(a, r->of[k]);
	*probe = as_text(a);
	*arguments = as_text(h && h->user && h->user->is_written ? PRIVATE : r->of[4]);
}

static bool is_open(const char *field)
{
	return !*field || strpbrk(field, "*?[");
}

/* What is not said of a probe does not count; if its provider is not said, all may be any. */
static struct ki_d_attributes of_description(const struct ki_d_pattern *p)
{
	const struct row *r = row_of(p->field[0]);
	struct ki_d_attributes a = r->of[0];

	if (is_open(p->field[0]))
		return UNSTABLE;
	for (unsigned int k = 1; k < 4; k++)
		if (!is_open(p->field[k]))
			a = least(a, r->of[k]);
	return a;
}

void ki_dlang_least_stable(const struct ki_dlang *d, size_t from, size_t to,
			   struct ki_dlang_stability *descriptions,
			   struct ki_dlang_stability *statements)
{
	struct ki_d_attributes all[2] = {{KI_D_STANDARD, KI_D_STANDARD, KI_D_COMMON},
					 {KI_D_STANDARD, KI_D_STANDARD, KI_D_COMMON}};

	for (size_t i = 0; i < d->clauses.n; i++) {
		const struct ki_d_clause *c = &d->clauses.v[i];

		if (c->at < from || c->at >= to)
			continue;
		all[1] = least(all[1], c->least);
		for (uint32_t k = c->first; k < c->first + c->n; k++)
			all[0] = least(all[0], of_description(&d->patterns.v[k]));
	}
	*descriptions = as_text(all[0]);
	*statements = as_text(all[1]);
}
