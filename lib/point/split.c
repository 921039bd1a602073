// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include "kerninst/split.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"

int ki_splits_add(struct ki_splits *s, char *text, struct ki_err *err)
{
	struct ki_split part = {.name = text, .text = text};
	struct ki_predicate *p;
	struct ki_err why = {0};
	size_t n = strspn(text, NAME);

	if (n && text[n] == ':')
		part.text = text + n + 1;
	if (ki_predicate_new(part.text, &p, &why))
		return ki_err_set(err, -EINVAL, 0, "--split '%s': %s", part.text, why.msg);
	ki_predicate_free(p);
	if (part.text != text)
		text[n] = 0;
	if (s->n == KI_SPLITS_MAX)
		return ki_err_set(err, -EINVAL, 0, "--split: more than %d parts", KI_SPLITS_MAX);
	for (unsigned int i = 0; i < s->n; i++)
		if (!strcmp(s->v[i].name, part.name))
			return ki_err_set(err, -EINVAL, 0, "--split: two parts '%s'", part.name);
	s->v[s->n++] = part;
	return 0;
}

/* What holds for all, and the part; or none of the parts. Free it. */
static char *text_of(const struct ki_splits *s, const struct ki_split *part, const char *all)
{
	size_t len;
	char *text = NULL;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		return NULL;
	if (all)
		fprintf(f, "(%s) && ", all);
	if (part->text)
		fprintf(f, "(%s)", part->text);
	for (unsigned int i = 0; !part->text && i < s->n; i++)
		fprintf(f, "%s!(%s)", i ? " && " : "", s->v[i].text);
	if (!fclose(f))
		return text;
	free(text);
	return NULL;
}

int ki_splits_new(struct ki_splits *s, const char *all, struct ki_err *err)
{
	struct ki_err why = {0};
	int ret = 0;

	if (!s->n)
		return 0;
	s->v[s->n].name = "else";
	for (unsigned int i = 0; !ret && i <= s->n; i++) {
		char *text = text_of(s, &s->v[i], all);

		if (!text)
			ret = ki_err_set(err, -ENOMEM, 0, "out of memory");
		else if (ki_predicate_new(text, &s->v[i].when, &why))
			ret = ki_err_set(err, -EINVAL, 0, "--split '%s': %s", s->v[i].name,
					 why.msg);
		free(text);
	}
	s->n++;
	return ret;
}

void ki_splits_free(struct ki_splits *s)
{
	for (unsigned int i = 0; i < s->n; i++)
		ki_predicate_free(s->v[i].when);
	*s = (struct ki_splits){0};
}
