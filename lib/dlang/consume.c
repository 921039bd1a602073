// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Records to what they print, and do.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "dlang/aggregate.h"
#include "dlang/check.h"
#include "dlang/format.h"
#include "dlang/names.h"
#include "dlang/probe.h"
#include "dlang/run.h"
#include "dlang/show.h"

/* A record while its values are taken from it. */
struct reading {
	struct ki_d_consumer *c;
	const struct ki_d_probe *probe;
	uint32_t number; /* of the probe */
	const uint64_t *next;
	char text[8 * KI_D_COMM_WORDS + 1];
};

static uint64_t take_word(struct reading *r)
{
	return *r->next++;
}

/* A string that is not in the record: it is written in the program, or the probe's. */
static const char *known_text(const struct reading *r, const struct ki_d_node *n)
{
	const char *const fields[] = {ki_d_provider_name(r->probe), r->probe->module,
				      r->probe->function, r->probe->name};

	if (n->kind == KI_D_TEXT)
		return n->text;
	return fields[n->sym.builtin->number & 3];
}

static const char *take_text(struct reading *r, const struct ki_d_arg *a)
{
	size_t size = 8 * ki_d_form_words(a->form);

	if (a->form == KI_D_FORM_PROBE)
		return known_text(r, a->node);
	if (a->form == KI_D_FORM_TEXT)
		return ki_texts_get(r->c->d->run->strings, take_word(r));
	memcpy(r->text, r->next, size);
	r->text[size] = 0;
	r->next += ki_d_form_words(a->form);
	return r->text;
}

/* ---- what is printed ---- */

static void print_trace(struct reading *r, const struct ki_d_arg *a, bool quiet)
{
	FILE *f = r->c->f;

	if (a->form == KI_D_FORM_STACK)
		ki_d_stack_print(r->c->d, take_word(r), 0, f);
	else if (a->form != KI_D_FORM_WORD)
		fprintf(f, quiet ? "%s" : "  %-33s", take_text(r, a));
	else
		ki_d_show_number(f, a->node->type, take_word(r), quiet);
}

static void print_conversion(struct reading *r, const struct ki_d_spec *s, const struct ki_d_arg *a,
			     int width)
{
	if (a->form == KI_D_FORM_STACK)
		ki_d_stack_print(r->c->d, take_word(r), 0, r->c->f);
	else if (a->form == KI_D_FORM_WORD)
		ki_d_show_conversion(r->c->d, r->c->f, s, width, a->node->type, take_word(r));
	else
		ki_d_format_string(r->c->f, s, width, take_text(r, a));
}

/* The value of an argument that is a width or a precision. */
static int take_star(struct reading *r, const struct ki_d_arg **arg)
{
	++*arg;
	return (int)take_word(r);
}

static void print_format(struct reading *r, const struct ki_d_action *a)
{
	const char *p = a->node->kid[0]->text, *why;
	const struct ki_d_arg *arg = a->args;
	struct ki_d_spec s;

	while (ki_d_format_next(&p, &s, &why) > 0) {
		if (!s.conversion) {
			fwrite(s.text, 1, s.len, r->c->f);
			continue;
		}
		if (s.width_arg)
			s.width = take_star(r, &arg);
		if (s.width_arg && s.width < 0) {
			memmove(s.flags + 1, s.flags, sizeof(s.flags) - 2);
			s.flags[0] = '-';
			s.width = -s.width;
		}
		if (s.precision_arg)
			s.precision = take_star(r, &arg);
		print_conversion(r, &s, arg++, s.width);
	}
}

static unsigned int frames_of(const struct ki_d_action *a)
{
	return a->node->kid[0] ? (unsigned int)a->node->kid[0]->value : 0;
}

/* ---- what is done ---- */

static int print_aggregation(struct reading *r, const struct ki_d_action *a)
{
	const struct ki_d_node *fmt = a->node->kid[0];
	const bool formatted = fmt->kind == KI_D_TEXT;

	if (!formatted)
		fputc('\n', r->c->f);
	return ki_d_agg_print(r->c->d, a->aggs, a->naggs, formatted ? fmt->text : NULL, r->c->f,
			      r->c->err);
}

/* What printf would print is a command, or a file's name. */
static int use_text(struct reading *r, const struct ki_d_action *a,
		    int (*use)(struct ki_d_consumer *c, const char *text))
{
	FILE *f = r->c->f;
	char *text = NULL;
	size_t len;
	int ret;

	r->c->f = open_memstream(&text, &len);
	if (!r->c->f) {
		r->c->f = f;
		return ki_d_no_memory(r->c->err);
	}
	print_format(r, a);
	ret = fclose(r->c->f);
	r->c->f = f;
	ret = ret ? ki_d_no_memory(r->c->err) : use(r->c, text);
	free(text);
	return ret;
}

static int set_option(struct reading *r, const struct ki_d_action *a)
{
	const struct ki_d_node *name = a->node->kid[0], *value = name->next;
	char probe[512];

	snprintf(probe, sizeof(probe), "%s:%s:%s:%s", ki_d_provider_name(r->probe),
		 r->probe->module, r->probe->function, r->probe->name);
	r->c->name = probe;
	return ki_d_outlet_option(r->c, r->probe->id, name->text, value ? value->text : NULL);
}

static int stop(struct reading *r)
{
	r->c->d->run->exited = true;
	r->c->d->run->status = (int)take_word(r);
	return 0;
}

/* What an aggregation is asked to be from now on. */
static int change_aggregation(struct reading *r, const struct ki_d_action *a)
{
	struct ki_d_agg *agg = a->aggs[0];

	switch (a->node->sym.function->kind) {
	case KI_D_F_CLEAR:
		return ki_d_agg_clear(r->c->d, agg, false, 0, r->c->err);
	case KI_D_F_TRUNC:
		return ki_d_agg_clear(r->c->d, agg, true, a->nargs ? (int64_t)take_word(r) : 0,
				      r->c->err);
	case KI_D_F_NORMALIZE:
		agg->normal = take_word(r);
		agg->normal += !agg->normal;
		return 0;
	default:
		agg->normal = 1;
		return 0;
	}
}

static int do_action(struct reading *r, const struct ki_d_action *a)
{
	struct ki_dlang *d = r->c->d;

	switch (a->node->sym.function->kind) {
	case KI_D_F_PRINTF:
		print_format(r, a);
		return 0;
	case KI_D_F_TRACE:
		print_trace(r, &a->args[0], d->set.quiet);
		return 0;
	case KI_D_F_STACK:
	case KI_D_F_USTACK:
		ki_d_stack_print(d, take_word(r), frames_of(a), r->c->f);
		return 0;
	case KI_D_F_PRINTA:
		return print_aggregation(r, a);
	case KI_D_F_SYSTEM:
		return use_text(r, a, ki_d_outlet_system);
	case KI_D_F_FREOPEN:
		return use_text(r, a, ki_d_outlet_reopen);
	case KI_D_F_FTRUNCATE:
		return ki_d_outlet_truncate(r->c);
	case KI_D_F_SETOPT:
		return set_option(r, a);
	case KI_D_F_EXIT:
		return stop(r);
	default:
		return change_aggregation(r, a);
	}
}

/* ---- which probe it was ---- */

enum flow { FLOW_NONE, FLOW_ENTRY, FLOW_RETURN };

/* -> a function is called, <- it returns; => and <= a system call; | all else. */
static enum flow flow_of(const struct ki_d_probe *p, const char **mark)
{
	static const char *const marks[][2] = {{" | ", " | "}, {" -> ", " => "}, {" <- ", " <= "}};
	enum flow flow = !strncmp(p->name, "entry", 5)	  ? FLOW_ENTRY
			 : !strncmp(p->name, "return", 6) ? FLOW_RETURN
							  : FLOW_NONE;

	*mark = marks[flow][ki_d_probe_is(p, "syscall")];
	return flow;
}

/* Clauses of one hit behind the first are no calls of their own. */
static void print_flow(struct reading *r, unsigned int cpu, bool first)
{
	struct ki_d_run *run = r->c->d->run;
	const char *mark;
	enum flow flow = flow_of(r->probe, &mark);
	int *indent = &run->indent[cpu % KI_D_INDENTS];
	char name[512];

	if (!first) {
		flow = FLOW_NONE;
		mark = " | ";
	}
	if (flow == FLOW_RETURN && *indent > 0)
		*indent -= 2;
	snprintf(name, sizeof(name), "%*s%s%s%s%s", *indent, "", mark, r->probe->function,
		 flow == FLOW_NONE ? ":" : "", flow == FLOW_NONE ? r->probe->name : "");
	fprintf(r->c->f, "%3u %-41s ", cpu, name);
	if (flow == FLOW_ENTRY)
		*indent += 2;
}

static void print_header(struct reading *r, unsigned int cpu, bool first)
{
	struct ki_d_run *run = r->c->d->run;
	const struct ki_d_settings *set = &r->c->d->set;
	char name[512];

	if (!run->header && set->flowindent)
		fprintf(r->c->f, "%3s %-41s\n", "CPU", "FUNCTION");
	else if (!run->header && !set->quiet)
		fprintf(r->c->f, "%3s %6s %32s\n", "CPU", "ID", "FUNCTION:NAME");
	run->header = true;
	if (set->flowindent) {
		print_flow(r, cpu, first);
	} else if (!set->quiet) {
		snprintf(name, sizeof(name), "%s:%s", r->probe->function, r->probe->name);
		fprintf(r->c->f, "%3u %6u %32s ", cpu, r->probe->id, name);
	}
}

/* Is the record's clause the first of its probe that prints anything? */
static bool is_first(const struct ki_dlang *d, const struct ki_d_probe *p, uint32_t clause)
{
	for (uint32_t i = p->first; i < p->first + p->n && d->uses.v[i] != clause; i++)
		if (d->clauses.v[d->uses.v[i]].nbatches)
			return false;
	return true;
}

int ki_d_consume(void *consumer, const struct ki_record *rec, const uint64_t *values,
		 unsigned int cpu)
{
	struct ki_d_consumer *c = consumer;
	struct ki_dlang *d = c->d;
	const struct ki_d_batch *b;
	struct reading r = {.c = c, .next = values};
	int ret = 0;

	if (rec->id >= d->batches.n || !rec->words || values[0] >= d->probes.n)
		return ki_err_set(c->err, -EIO, 0, "D: a record that is none");
	b = &d->batches.v[rec->id];
	c->record = b->clause + 1;
	r.number = (uint32_t)take_word(&r);
	r.probe = &d->probes.v[r.number];
	if (b->begins)
		print_header(&r, cpu, is_first(d, r.probe, b->clause));
	for (uint32_t i = b->first; !ret && i < b->first + b->n; i++)
		if (d->actions.v[i].node)
			ret = do_action(&r, &d->actions.v[i]);
	if (b->ends && !d->set.quiet)
		fputc('\n', c->f);
	return ret;
}
