// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * provider NAME { probe NAME(TYPE [NAME], ...) [: (TYPE NAME, ...)]; ... };
 *
 * What a program says of probes that are written into it. Behind the colon: which of the arguments
 * those are that a program of D sees.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dlang/parse/parse.h"

static void free_args(struct ki_d_written_args *a)
{
	for (unsigned int i = 0; i < a->n; i++) {
		free(a->type[i]);
		free(a->name[i]);
	}
}

void ki_d_written_free(struct ki_dlang *d)
{
	for (size_t i = 0; i < d->written.n; i++) {
		struct ki_d_written *w = &d->written.v[i];

		free(w->provider);
		free(w->name);
		free_args(&w->native);
		free_args(&w->seen);
	}
	ki_vec_free(&d->written);
}

static int fail(const struct ki_d_parser *p, uint32_t at, const char *tag, const char *text,
		const char *name)
{
	return ki_d_fail(p->d, p->lex.err, at, tag, text, name);
}

/* The text between two places, without white space at its end. */
static char *slice(const struct ki_d_parser *p, uint32_t from, uint32_t to)
{
	while (to > from && isspace((unsigned char)p->d->text[to - 1]))
		to--;
	return strndup(p->d->text + from, to - from);
}

/* TYPE [NAME], as it is written in C. */
static int argument(struct ki_d_parser *p, struct ki_d_written_args *a)
{
	const uint32_t from = p->lex.now.at;
	struct ki_d_declarator dr = {0};
	bool is_type = false;
	int ret;

	if (a->n == KI_D_WRITTEN_ARGS)
		return fail(p, from, "D_PROV_PRARGLEN", "a probe has too many arguments%s", "");
	ret = ki_d_parse_specifiers(p, &dr.type, &is_type);
	if (!ret && !is_type)
		return ki_lex_expected(&p->lex, "a type");
	if (!ret)
		ret = ki_d_parse_declarator(p, &dr);
	if (ret) {
		free(dr.name);
		return ret;
	}
	if (dr.type.base == KI_D_FUNCTION) /* its name stands inside of the type */
		a->type[a->n] = strdup("void *");
	else if (ki_d_is_string(dr.type))
		a->type[a->n] = strdup("const char *");
	else
		a->type[a->n] = slice(p, from, dr.name ? dr.at : p->lex.now.at);
	a->name[a->n] = dr.name;
	return a->type[a->n++] ? 0 : ki_d_no_memory(p->lex.err);
}

/* ( ... ); void alone: nothing. */
static int arguments(struct ki_d_parser *p, struct ki_d_written_args *a)
{
	int ret = ki_lex_take(&p->lex, "(");
	const bool none =
		ki_lex_is(&p->lex, "void") && p->lex.next[strspn(p->lex.next, " \t\n")] == ')';

	if (!ret && none)
		ret = ki_lex_next(&p->lex);
	if (!ret && !ki_lex_is(&p->lex, ")"))
		ret = argument(p, a);
	while (!ret && ki_lex_is(&p->lex, ",")) {
		ret = ki_lex_next(&p->lex);
		if (!ret)
			ret = argument(p, a);
	}
	return ret ? ret : ki_lex_take(&p->lex, ")");
}

/* Each argument that is seen is one of the probe's own, by its name. */
static int map(struct ki_d_parser *p, struct ki_d_written *w, uint32_t at)
{
	for (unsigned int i = 0; i < w->seen.n; i++) {
		const char *name = w->seen.name[i];

		for (w->from[i] = 0; w->from[i] < w->native.n; w->from[i]++)
			if (name && w->native.name[w->from[i]] &&
			    !strcmp(name, w->native.name[w->from[i]]))
				break;
		if (w->from[i] == w->native.n)
			return fail(p, at, "D_SYNTAX", "no argument of the probe has the name '%s'",
				    name ? name : "");
	}
	return 0;
}

static int fill(struct ki_d_parser *p, struct ki_d_written *w, const char *provider)
{
	const uint32_t at = p->lex.now.at;
	char name[KI_D_NAME_MAX];
	int ret = ki_d_parse_name(p, name);

	for (size_t i = 0; !ret && i < p->d->written.n; i++)
		if (!strcmp(p->d->written.v[i].provider, provider) &&
		    !strcmp(p->d->written.v[i].name, name))
			return fail(p, at, "D_PROV_PRDUP", "the probe %s is declared twice", name);
	w->provider = strdup(provider);
	w->name = ret ? NULL : strdup(name);
	if (!ret && (!w->provider || !w->name))
		ret = ki_d_no_memory(p->lex.err);
	if (!ret)
		ret = arguments(p, &w->native);
	w->maps = !ret && ki_lex_is(&p->lex, ":");
	if (w->maps) {
		ret = ki_lex_next(&p->lex);
		if (!ret)
			ret = arguments(p, &w->seen);
		if (!ret)
			ret = map(p, w, at);
	}
	return ret ? ret : ki_lex_take(&p->lex, ";");
}

static int probe(struct ki_d_parser *p, const char *provider)
{
	struct ki_d_written w = {0};
	int ret = fill(p, &w, provider);

	if (!ret && !ki_vec_push(&p->d->written, w))
		return 0;
	free(w.provider);
	free(w.name);
	free_args(&w.native);
	free_args(&w.seen);
	return ret ? ret : ki_d_no_memory(p->lex.err);
}

int ki_d_parse_provider(struct ki_d_parser *p)
{
	char provider[KI_D_NAME_MAX] = "";
	uint32_t at;
	int ret = ki_lex_next(&p->lex);

	at = p->lex.now.at;
	if (!ret)
		ret = ki_d_parse_name(p, provider);
	if (!ret && isdigit((unsigned char)provider[strlen(provider) - 1]))
		return fail(p, at, "D_PROV_BADNAME",
			    "a provider's name ends with no digit, as %s does: the number of a "
			    "process comes behind it",
			    provider);
	if (!ret)
		ret = ki_lex_take(&p->lex, "{");
	while (!ret && ki_lex_is(&p->lex, "probe")) {
		ret = ki_lex_next(&p->lex);
		if (!ret)
			ret = probe(p, provider);
	}
	if (!ret)
		ret = ki_lex_take(&p->lex, "}");
	p->d->providers |= !ret;
	return ret ? ret : ki_lex_take(&p->lex, ";");
}
