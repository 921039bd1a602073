// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Records to what they print, and do.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "dlang/print/aggregate.h"
#include "dlang/check/check.h"
#include "dlang/print/format.h"
#include "dlang/words/names.h"
#include "dlang/print/print.h"
#include "dlang/print/lines.h"
#include "dlang/probe/probe.h"
#include "dlang/run/reading.h"
#include "dlang/run/run.h"
#include "dlang/print/show.h"

/* ---- what is printed ---- */

/* What a program says is its depth may not be. */
static void print_stack(struct ki_d_reading *r, const struct ki_d_arg *a, int indent)
{
	const uint64_t word = ki_d_take_word(r);

	r->bad |= !ki_d_stack_fits(r->c->d, word);
	if (!r->bad)
		ki_d_stack_print(r->c->d, word, a->node->type.num, indent, r->c->f);
}

void ki_d_print_value(struct ki_d_reading *r, const struct ki_d_arg *a, bool quiet)
{
	FILE *f = r->c->f;
	char place[KI_D_ADDRESS];

	if (a->form == KI_D_FORM_STACK)
		print_stack(r, a, (int)r->c->d->set.stackindent);
	else if (ki_d_is_place(a->node->type))
		fprintf(f, "  %-50s", ki_d_take_place(r, a, place));
	else if (a->form != KI_D_FORM_WORD)
		fprintf(f, "%s%-*s", quiet ? "" : "  ", quiet ? 0 : KI_D_TEXT_COLUMNS,
			ki_d_take_text(r, a));
	else
		ki_d_show_number(f, a->node->type, ki_d_take_word(r), quiet);
}

static void print_conversion(struct ki_d_reading *r, const struct ki_d_spec *s,
			     const struct ki_d_arg *a, int width)
{
	char place[KI_D_ADDRESS];

	if (a->form == KI_D_FORM_STACK)
		print_stack(r, a, width);
	else if (ki_d_is_place(a->node->type))
		ki_d_format_string(r->c->f, s, width, ki_d_take_place(r, a, place));
	else if (a->form == KI_D_FORM_WORD)
		ki_d_show_conversion(r->c->d, r->c->f, s, width, a->node->type, ki_d_take_word(r));
	else
		ki_d_format_string(r->c->f, s, width, ki_d_take_text(r, a));
}

/* The value of an argument that is a width or a precision. */
static int take_star(struct ki_d_reading *r, const struct ki_d_arg **arg)
{
	++*arg;
	return (int)ki_d_take_word(r);
}

static void print_format(struct ki_d_reading *r, const struct ki_d_action *a)
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

/* ---- what is done ---- */

static int print_aggregation(struct ki_d_reading *r, const struct ki_d_action *a)
{
	const struct ki_d_node *fmt = a->node->kid[0];
	const bool formatted = fmt->kind == KI_D_TEXT;

	if (r->c->d->set.json)
		return ki_d_line_aggregations(r->c, a->aggs, a->naggs);
	if (!formatted)
		fputc('\n', r->c->f);
	return ki_d_agg_print(r->c->d, a->aggs, a->naggs, formatted ? fmt->text : NULL, r->c->f,
			      r->c->err);
}

/* What printf would print is a command, or a file's name. */
static int use_text(struct ki_d_reading *r, const struct ki_d_action *a,
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

static int set_option(struct ki_d_reading *r, const struct ki_d_action *a)
{
	char name[64], probe[512];

	snprintf(probe, sizeof(probe), "%s:%s:%s:%s", ki_d_provider_name(r->probe),
		 r->probe->module, r->probe->function, r->probe->name);
	r->c->name = probe;
	snprintf(name, sizeof(name), "%s", ki_d_take_text(r, &a->args[0]));
	return ki_d_outlet_option(r->c, r->probe->id, name,
				  a->nargs > 1 ? ki_d_take_text(r, &a->args[1]) : NULL);
}

static int stop(struct ki_d_reading *r)
{
	r->c->d->run->exited = true;
	r->c->d->run->status = (int)ki_d_take_word(r);
	return 0;
}

/* What an aggregation is asked to be from now on. */
static int change_aggregation(struct ki_d_reading *r, const struct ki_d_action *a)
{
	struct ki_d_agg *agg = a->aggs[0];

	switch (a->node->sym.function->kind) {
	case KI_D_F_CLEAR:
		return ki_d_agg_clear(r->c->d, agg, false, 0, r->c->err);
	case KI_D_F_TRUNC:
		return ki_d_agg_clear(r->c->d, agg, true, a->nargs ? (int64_t)ki_d_take_word(r) : 0,
				      r->c->err);
	case KI_D_F_NORMALIZE:
		agg->normal = ki_d_take_word(r);
		agg->normal += !agg->normal;
		return 0;
	default:
		agg->normal = 1;
		return 0;
	}
}

static int end_speculation(struct ki_d_reading *r, bool commit);

static int do_action(struct ki_d_reading *r, const struct ki_d_action *a)
{
	switch (a->node->sym.function->kind) {
	case KI_D_F_PRINTF:
		print_format(r, a);
		return 0;
	case KI_D_F_TRACE:
	case KI_D_F_PLACE:
		return ki_d_print_traced(r, a);
	case KI_D_F_STACK:
	case KI_D_F_USTACK:
		ki_d_stack_print(r->c->d, ki_d_take_word(r), a->node->type.num,
				 (int)r->c->d->set.stackindent, r->c->f);
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
	case KI_D_F_PRINT:
		return ki_d_print_typed(r, a);
	case KI_D_F_RAISE:
		return 0;
	case KI_D_F_TRACEMEM:
		return ki_d_print_memory(r, a);
	case KI_D_F_PCAP:
		return ki_d_capture(r, a);
	case KI_D_F_COMMIT:
	case KI_D_F_DISCARD:
		return end_speculation(r, a->node->sym.function->kind == KI_D_F_COMMIT);
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
static void print_flow(struct ki_d_reading *r, unsigned int cpu, bool first)
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
	if (!r->c->d->set.plain)
		fprintf(r->c->f, "%3u ", cpu);
	fprintf(r->c->f, "%-41s ", name);
	if (flow == FLOW_ENTRY)
		*indent += 2;
}

static void print_header(struct ki_d_reading *r, unsigned int cpu, bool first)
{
	struct ki_d_run *run = r->c->d->run;
	const struct ki_d_settings *set = &r->c->d->set;
	char name[512];

	if (!run->header && set->flowindent)
		fprintf(r->c->f, "%s%-41s\n", set->plain ? "" : "CPU ", "FUNCTION");
	else if (!run->header && !set->quiet)
		fprintf(r->c->f, "%s%32s\n", set->plain ? "" : "CPU     ID ", "FUNCTION:NAME");
	run->header = true;
	if (set->flowindent) {
		print_flow(r, cpu, first);
	} else if (!set->quiet) {
		snprintf(name, sizeof(name), "%s:%s", r->probe->function, r->probe->name);
		if (!set->plain)
			fprintf(r->c->f, "%3u %6u ", cpu, r->probe->id);
		fprintf(r->c->f, "%32s ", name);
	}
}

/* commit() and discard() by themselves have no line, and what goes into a capture has none. */
static bool prints(const struct ki_dlang *d, uint32_t clause)
{
	const struct ki_d_clause *c = &d->clauses.v[clause];

	for (uint32_t i = c->first_batch; !ki_d_captures(d, c) && i < c->first_batch + c->nbatches;
	     i++)
		if (!d->batches.v[i].silent)
			return true;
	return false;
}

/* Is the record's clause the first of its probe that prints anything? */
static bool is_first(const struct ki_dlang *d, const struct ki_d_probe *p, uint32_t clause)
{
	for (uint32_t i = p->first; i < p->first + p->n && d->uses.v[i] != clause; i++)
		if (prints(d, d->uses.v[i]))
			return false;
	return true;
}

static int do_all(struct ki_d_reading *r, const struct ki_d_batch *b)
{
	const struct ki_dlang *d = r->c->d;
	int ret = 0;

	for (uint32_t i = b->first; !ret && i < b->first + b->n; i++)
		if (d->actions.v[i].node)
			ret = do_action(r, &d->actions.v[i]);
	if (!ret && r->bad)
		ret = ki_err_set(r->c->err, -EIO, 0,
				 "processing aborted: Data record has incorrect size");
	return ret;
}

/* What its actions print is part of one line of JSON; what they do is done as ever. */
static int use_as_line(struct ki_d_reading *r, const struct ki_d_batch *b, unsigned int cpu)
{
	const struct ki_dlang *d = r->c->d;
	struct ki_d_line line;
	int ret = ki_d_line_begin(&line, r, cpu);

	for (uint32_t i = b->first; !ret && i < b->first + b->n; i++) {
		const struct ki_d_action *a = &d->actions.v[i];

		if (!a->node)
			continue;
		if (!ki_d_line_action(&line, r, a)) {
			ret = do_action(r, a);
			continue;
		}
		ki_d_line_text(&line, r->c, true);
		ret = do_action(r, a);
		ki_d_line_text(&line, r->c, false);
	}
	return ki_d_line_end(&line, r->c, ret);
}

/* A record of a batch, now; or at the end. */
static int use(struct ki_d_consumer *c, const struct ki_d_held *h)
{
	struct ki_dlang *d = c->d;
	const struct ki_d_batch *b = &d->batches.v[h->rec.id];
	struct ki_d_reading r = {.c = c, .next = h->values};
	int ret = 0;

	if (!b->silent && ki_d_backlog_keeps(d))
		return ki_d_backlog_add(d, h) ? ki_d_no_memory(c->err) : 0;
	c->record = b->clause + 1;
	r.number = (uint32_t)ki_d_take_word(&r);
	r.probe = &d->probes.v[r.number];
	r.next += b->speculative;
	if (d->set.json)
		return b->silent ? do_all(&r, b) : use_as_line(&r, b, h->cpu);
	if (h->begins && prints(d, b->clause))
		print_header(&r, h->cpu, is_first(d, r.probe, b->clause));
	ret = do_all(&r, b);
	if (h->ends && !d->set.quiet && prints(d, b->clause))
		fputc('\n', c->f);
	return ret;
}

static int use_held(void *arg, const struct ki_d_held *h)
{
	return use(arg, h);
}

/* One whose clause has come to its end. */
static int pass_on(void *arg, const struct ki_d_held *h)
{
	struct ki_d_consumer *c = arg;

	if (!c->d->batches.v[h->rec.id].speculative)
		return use(c, h);
	return ki_d_hold_speculate(&c->d->run->hold, c->d, h) ? ki_d_no_memory(c->err) : 0;
}

static int end_speculation(struct ki_d_reading *r, bool commit)
{
	return ki_d_hold_speculation(&r->c->d->run->hold, r->c->d, ki_d_take_word(r),
				     commit ? use_held : NULL, r->c);
}

/* A clause has faulted: what it has recorded counts for nothing. */
static int report_fault(struct ki_d_consumer *c, const uint64_t *values, unsigned int cpu)
{
	static const char *const kinds[] = {
		[KI_D_BAD_ADDRESS] = "invalid address", [KI_D_ILLEGAL] = "illegal operation",
		[KI_D_DIVISION] = "divide-by-zero",	[KI_D_NO_SCRATCH] = "out of scratch space",
		[KI_D_BAD_SIZE] = "invalid size",	[KI_D_BAD_INDEX] = "index out-of-bounds"};
	const struct ki_d_probe *p = &c->d->probes.v[values[0]];
	const unsigned int kind = values[2] & KI_D_FAULT_KIND;
	char text[640], address[32] = "";

	ki_d_hold_close(&c->d->run->hold, c->d, values, cpu, NULL, NULL);
	if (!c->out->warn && !c->d->set.json)
		return 0;
	if (kind == KI_D_BAD_ADDRESS || kind == KI_D_BAD_SIZE)
		snprintf(address, sizeof(address), " (0x%" PRIx64 ")", values[3]);
	if (kind == KI_D_BAD_INDEX)
		snprintf(address, sizeof(address), " (%" PRId64 ")", (int64_t)values[3]);
	snprintf(text, sizeof(text),
		 "error in dt_clause_%u for probe ID %u (%s:%s:%s:%s): %s%s at BPF pc %u",
		 (unsigned int)values[4], p->id, ki_d_provider_name(p), p->module, p->function,
		 p->name,
		 kind < sizeof(kinds) / sizeof(*kinds) && kinds[kind] ? kinds[kind]
								      : "unknown fault",
		 address, ki_d_fault_offset(values[2]));
	if (c->d->set.json)
		return ki_d_line_error(c, p, text);
	c->out->warn(c->out->arg, text);
	return 0;
}

/* Of a clause that has come to its end, or not. */
static int end_clause(struct ki_d_consumer *c, const struct ki_record *rec, const uint64_t *values,
		      unsigned int cpu)
{
	const struct ki_dlang *d = c->d;
	const bool fault = rec->id == KI_D_RECORD_ERROR;

	if (rec->words != (fault ? 5 : 2) || values[0] >= d->probes.n || values[1] >= d->clauses.n)
		return ki_err_set(c->err, -EIO, 0, "D: a record that is none");
	c->d->run->errors += rec->id == KI_D_RECORD_DOUBLE;
	if (rec->id == KI_D_RECORD_DOUBLE)
		return 0;
	if (fault)
		return report_fault(c, values, cpu);
	return ki_d_hold_close(&c->d->run->hold, d, values, cpu, pass_on, c);
}

int ki_d_consume(void *consumer, const struct ki_record *rec, const uint64_t *values,
		 unsigned int cpu)
{
	struct ki_d_consumer *c = consumer;
	struct ki_dlang *d = c->d;
	struct ki_d_held now = {.rec = *rec, .cpu = cpu};

	if (rec->id >= KI_D_RECORD_ERROR && rec->id <= KI_D_RECORD_DOUBLE)
		return end_clause(c, rec, values, cpu);
	if (rec->id >= d->batches.n || !rec->words || values[0] >= d->probes.n)
		return ki_err_set(c->err, -EIO, 0, "D: a record that is none");
	if (!ki_d_has_room(d, cpu, rec->id))
		return 0;
	memcpy(now.values, values, rec->words * sizeof(*values));
	now.open = d->clauses.v[d->batches.v[rec->id].clause].held;
	if (now.open)
		return ki_d_hold_add(&d->run->hold, &now) ? ki_d_no_memory(c->err) : 0;
	now.begins = d->batches.v[rec->id].begins;
	now.ends = d->batches.v[rec->id].ends;
	return pass_on(c, &now);
}

int ki_d_consume_kept(struct ki_d_consumer *c)
{
	return ki_d_backlog_end(c->d, use_held, c);
}
