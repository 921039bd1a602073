// SPDX-License-Identifier: GPL-2.0-only
#include "split.h"

#include <stdlib.h>
#include <string.h>

#define NAME "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"

int splits_add(struct splits *s, const struct verb *self, char *text)
{
	struct split part = {.name = text, .text = text};
	struct ki_predicate *p;
	struct ki_err err = {0};
	size_t n = strspn(text, NAME);

	if (n && text[n] == ':')
		part.text = text + n + 1;
	if (ki_predicate_parse(part.text, &p, &err))
		return cli_misuse(self, "--split '%s': %s", part.text, err.msg);
	ki_predicate_free(p);
	if (part.text != text)
		text[n] = 0;
	if (s->n == SPLITS_MAX)
		return cli_misuse(self, "--split: more than %d parts", SPLITS_MAX);
	for (unsigned int i = 0; i < s->n; i++)
		if (!strcmp(s->v[i].name, part.name))
			return cli_misuse(self, "--split: two parts '%s'", part.name);
	s->v[s->n++] = part;
	return CLI_OK;
}

/* What holds for all, and the part; or none of the parts. Free it. */
static char *text_of(const struct splits *s, const struct split *part, const struct when *w)
{
	size_t len;
	char *text = NULL;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		return NULL;
	if (w->text)
		fprintf(f, "(%s) && ", w->text);
	if (part->text)
		fprintf(f, "(%s)", part->text);
	for (unsigned int i = 0; !part->text && i < s->n; i++)
		fprintf(f, "%s!(%s)", i ? " && " : "", s->v[i].text);
	if (!fclose(f))
		return text;
	free(text);
	return NULL;
}

int splits_make(struct splits *s, const struct verb *self, const struct when *w)
{
	struct ki_err err = {0};
	int ret = CLI_OK;

	if (!s->n)
		return CLI_OK;
	s->v[s->n].name = "else";
	for (unsigned int i = 0; !ret && i <= s->n; i++) {
		char *text = text_of(s, &s->v[i], w);

		if (!text)
			ret = cli_no_memory();
		else if (ki_predicate_parse(text, &s->v[i].when, &err))
			ret = cli_misuse(self, "--split '%s': %s", s->v[i].name, err.msg);
		free(text);
	}
	s->n++;
	return ret;
}

void splits_free(struct splits *s)
{
	for (unsigned int i = 0; i < s->n; i++)
		ki_predicate_free(s->v[i].when);
	*s = (struct splits){0};
}
