// SPDX-License-Identifier: GPL-2.0-only
/*
 * ttest [--level PERCENT] [--json FILE] < ROWS: what the samples of studies say.
 *
 * Rows are fields separated by tabs:
 *
 *	study	STUDY	WHAT		its heading
 *	sample	STUDY	NAME	VALUE	one trial; the first NAME of a study is what others are held
 *					against, and names are shown in the order in which they come
 *	fact	STUDY	NAME	VALUE	a number that needs no test
 *	note	STUDY	TEXT
 *
 * Lines of another form are passed over: a console may put its own between. Ends with 1 if a
 * study has no two samples of two trials and no facts either, or if there is none at all.
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/welch.h"

#define NAME	   96
#define STUDIES	   16
#define GROUPS	   16
#define FACTS	   48
#define NOTES	   8
#define TRIALS_MAX 100000

struct group {
	char name[NAME];
	double *v;
	size_t n;
	struct ki_sample s;
	struct ki_comparison c; /* against the first */
};

struct fact {
	char name[NAME];
	double value;
};

struct study {
	char name[NAME], what[2 * NAME];
	struct group groups[GROUPS];
	struct fact facts[FACTS];
	char notes[NOTES][2 * NAME];
	size_t ngroups, nfacts, nnotes;
};

static struct study studies[STUDIES];
static size_t nstudies;
static double level = 0.95;

static void die(const char *text)
{
	fprintf(stderr, "ttest: %s\n", text);
	exit(1);
}

static void copy(char *to, size_t size, const char *from)
{
	snprintf(to, size, "%s", from);
}

/* ---- reading ---- */

static struct study *study_named(const char *name)
{
	struct study *s;

	for (size_t i = 0; i < nstudies; i++)
		if (!strcmp(studies[i].name, name))
			return &studies[i];
	if (nstudies == STUDIES)
		die("too many studies");
	s = &studies[nstudies++];
	copy(s->name, sizeof(s->name), name);
	return s;
}

static struct group *group_named(struct study *s, const char *name)
{
	struct group *g;

	for (size_t i = 0; i < s->ngroups; i++)
		if (!strcmp(s->groups[i].name, name))
			return &s->groups[i];
	if (s->ngroups == GROUPS)
		die("too many samples in a study");
	g = &s->groups[s->ngroups++];
	copy(g->name, sizeof(g->name), name);
	g->v = calloc(TRIALS_MAX, sizeof(*g->v));
	if (!g->v)
		die("out of memory");
	return g;
}

static double number(const char *text)
{
	char *end;
	double v = strtod(text, &end);

	if (end == text || *end || !isfinite(v))
		die("a value that is no number");
	return v;
}

static void add_study(struct study *s, char **field)
{
	copy(s->what, sizeof(s->what), field[0]);
}

static void add_sample(struct study *s, char **field)
{
	struct group *g = group_named(s, field[0]);

	if (g->n == TRIALS_MAX)
		die("too many trials");
	g->v[g->n++] = number(field[1]);
}

static void add_fact(struct study *s, char **field)
{
	struct fact *f = &s->facts[s->nfacts++];

	if (s->nfacts > FACTS)
		die("too many facts");
	copy(f->name, sizeof(f->name), field[0]);
	f->value = number(field[1]);
}

static void add_note(struct study *s, char **field)
{
	if (s->nnotes == NOTES)
		die("too many notes");
	copy(s->notes[s->nnotes++], sizeof(s->notes[0]), field[0]);
}

static const struct kind {
	const char *name;
	size_t fields; /* after the study's name */
	void (*add)(struct study *s, char **field);
} kinds[] = {
	{"study", 1, add_study},
	{"sample", 2, add_sample},
	{"fact", 2, add_fact},
	{"note", 1, add_note},
};

static void row(char *line)
{
	char *field[4] = {0};
	size_t n = 0;

	line[strcspn(line, "\r\n")] = 0;
	for (char *at = line; at && n < 4; n++)
		field[n] = strsep(&at, "\t");
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (!strcmp(field[0], kinds[i].name) && n == kinds[i].fields + 2)
			kinds[i].add(study_named(field[1]), field + 2);
}

/* ---- testing ---- */

static int evaluate(struct study *s)
{
	for (size_t i = 0; i < s->ngroups; i++) {
		struct group *g = &s->groups[i];

		if (g->n < 2 || s->ngroups < 2)
			return 1;
		ki_sample_of(g->v, g->n, &g->s);
		if (i)
			ki_sample_compare(&s->groups[0].s, &g->s, level, &g->c);
	}
	return !s->ngroups && !s->nfacts;
}

static bool proven(const struct ki_comparison *c)
{
	return c->p < 1 - level;
}

static const char *verdict(const struct ki_comparison *c)
{
	if (!proven(c))
		return "no difference proven";
	return c->difference > 0 ? "more" : "less";
}

/* ---- showing ---- */

static void print_group(const struct study *s, size_t i)
{
	const struct group *base = &s->groups[0], *g = &s->groups[i];

	printf("  %-34s %6zu %14.1f %10.1f %14.1f", g->name, g->n, g->s.mean,
	       ki_sample_error(&g->s), g->s.min);
	if (!i) {
		printf("\n");
		return;
	}
	printf(" %12.1f [%.1f, %.1f] %12.1f %9.5f  %s (p %.2g)\n", g->c.difference, g->c.low,
	       g->c.high, g->s.min - base->s.min, g->s.mean / base->s.mean, verdict(&g->c), g->c.p);
}

static void print_study(const struct study *s)
{
	printf("%s: %s\n\n", s->name, s->what);
	if (s->ngroups)
		printf("  %-34s %6s %14s %10s %14s %12s [%.4g %% interval] %s %9s\n", "", "trials",
		       "mean", "+-", "least", "difference", level * 100, "of the least", "ratio");
	for (size_t i = 0; i < s->ngroups; i++)
		print_group(s, i);
	if (s->nfacts)
		printf("\n");
	for (size_t i = 0; i < s->nfacts; i++)
		printf("  %-60s %14.10g\n", s->facts[i].name, s->facts[i].value);
	for (size_t i = 0; i < s->nnotes; i++)
		printf("%s  %s\n", i ? "" : "\n", s->notes[i]);
	printf("\n");
}

static void json_string(FILE *f, const char *key, const char *text)
{
	fprintf(f, "\"%s\":\"", key);
	for (; *text; text++)
		if (*text == '"' || *text == '\\')
			fprintf(f, "\\%c", *text);
		else if ((unsigned char)*text >= ' ')
			fputc(*text, f);
	fprintf(f, "\"");
}

static void json_begin(FILE *f, const char *kind, const struct study *s, const char *name)
{
	fprintf(f, "{\"kind\":\"%s\",", kind);
	json_string(f, "study", s->name);
	fprintf(f, ",");
	json_string(f, kind[0] == 'n' ? "text" : "name", name);
}

static void json_group(FILE *f, const struct study *s, size_t i)
{
	const struct group *g = &s->groups[i];

	json_begin(f, "sample", s, g->name);
	fprintf(f, ",\"trials\":%zu,\"mean\":%.6f,\"error\":%.6f,\"min\":%.6f,\"max\":%.6f", g->n,
		g->s.mean, ki_sample_error(&g->s), g->s.min, g->s.max);
	if (i)
		fprintf(f,
			",\"difference\":%.6f,\"low\":%.6f,\"high\":%.6f,\"level\":%g,"
			"\"of_the_least\":%.6f,\"ratio\":%.8f,\"p\":%g,\"proven\":%s",
			g->c.difference, g->c.low, g->c.high, level, g->s.min - s->groups[0].s.min,
			g->s.mean / s->groups[0].s.mean, g->c.p, proven(&g->c) ? "true" : "false");
	fprintf(f, "}\n");
}

static void json_study(FILE *f, const struct study *s)
{
	json_begin(f, "study", s, s->what);
	fprintf(f, "}\n");
	for (size_t i = 0; i < s->ngroups; i++)
		json_group(f, s, i);
	for (size_t i = 0; i < s->nfacts; i++) {
		json_begin(f, "fact", s, s->facts[i].name);
		fprintf(f, ",\"value\":%.10g}\n", s->facts[i].value);
	}
	for (size_t i = 0; i < s->nnotes; i++) {
		json_begin(f, "note", s, s->notes[i]);
		fprintf(f, "}\n");
	}
}

static FILE *options(int argc, char **argv)
{
	FILE *json = NULL;

	for (int i = 1; i < argc; i += 2) {
		if (i + 1 < argc && !strcmp(argv[i], "--level"))
			level = number(argv[i + 1]) / 100;
		else if (i + 1 < argc && !strcmp(argv[i], "--json"))
			json = fopen(argv[i + 1], "we");
		else
			die("usage: ttest [--level PERCENT] [--json FILE] < ROWS");
		if (!(level > 0 && level < 1) || (!json && !strcmp(argv[i], "--json")))
			die(argv[i + 1]);
	}
	return json;
}

int main(int argc, char **argv)
{
	FILE *json = options(argc, argv);
	char line[1024];
	int failed = 0;

	while (fgets(line, sizeof(line), stdin))
		row(line);
	for (size_t i = 0; i < nstudies; i++) {
		if (evaluate(&studies[i])) {
			fprintf(stderr, "ttest: %s: too few trials\n", studies[i].name);
			failed = 1;
			continue;
		}
		print_study(&studies[i]);
		if (json)
			json_study(json, &studies[i]);
	}
	if (json && fclose(json))
		die("the file could not be written");
	return failed || !nstudies;
}
