// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Records to what they print, and do.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "dlang/check.h"
#include "dlang/format.h"
#include "dlang/names.h"
#include "dlang/run.h"

/* A record while its values are taken from it. */
struct reading {
	struct ki_d_consumer *c;
	const struct ki_d_probe *probe;
	uint32_t number; /* of the probe */
	const uint64_t *next;
	char text[8 * KI_D_STRING_WORDS + 1];
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
	memcpy(r->text, r->next, size);
	r->text[size] = 0;
	r->next += ki_d_form_words(a->form);
	return r->text;
}

/* ---- what is printed ---- */

/* As wide as the type's longest number, and one blank. */
static void print_padded(FILE *f, struct ki_d_type t, uint64_t value)
{
	static const uint8_t widths[][2] = {
		[1] = {3, 3}, [2] = {5, 5}, [4] = {10, 10}, [8] = {19, 20}};
	const bool is_unsigned = ki_d_num(t) >= KI_U8;
	const int width = widths[ki_d_size(t)][is_unsigned];

	if (is_unsigned)
		fprintf(f, " %*" PRIu64, width, value);
	else
		fprintf(f, " %*" PRId64, width, (int64_t)value);
}

static void print_trace(struct reading *r, const struct ki_d_arg *a, bool quiet)
{
	FILE *f = r->c->f;

	if (a->form == KI_D_FORM_STACK)
		ki_d_stack_print(r->c->d, take_word(r), 0, f);
	else if (a->form != KI_D_FORM_WORD)
		fprintf(f, quiet ? "%s" : "  %-33s", take_text(r, a));
	else if (!quiet)
		print_padded(f, a->node->type, take_word(r));
	else if (ki_d_num(a->node->type) >= KI_U8)
		fprintf(f, "%" PRIu64, take_word(r));
	else
		fprintf(f, "%" PRId64, (int64_t)take_word(r));
}

static void print_conversion(struct reading *r, const struct ki_d_spec *s, const struct ki_d_arg *a,
			     int width)
{
	if (a->form == KI_D_FORM_STACK)
		ki_d_stack_print(r->c->d, take_word(r), 0, r->c->f);
	else if (a->form == KI_D_FORM_WORD)
		ki_d_format_number(r->c->f, s, width, a->node->type, take_word(r));
	else
		ki_d_format_string(r->c->f, s, width, take_text(r, a));
}

static void print_format(struct reading *r, const struct ki_d_action *a)
{
	const char *p = a->node->kid[0]->text, *why;
	const struct ki_d_arg *arg = a->args;
	struct ki_d_spec s;

	while (ki_d_format_next(&p, &s, &why) > 0) {
		int width = s.width;

		if (!s.conversion) {
			fwrite(s.text, 1, s.len, r->c->f);
			continue;
		}
		if (s.width_arg) {
			width = (int)take_word(r);
			arg++;
		}
		print_conversion(r, &s, arg++, width);
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

	if (!r->c->d->quiet)
		fputc('\n', r->c->f);
	return ki_d_agg_print(r->c->d, a->agg, fmt->kind == KI_D_TEXT ? fmt->text : NULL, r->c->f,
			      r->c->err);
}

static int do_action(struct reading *r, const struct ki_d_action *a)
{
	struct ki_dlang *d = r->c->d;

	switch (a->node->sym.function->kind) {
	case KI_D_F_PRINTF:
		print_format(r, a);
		return 0;
	case KI_D_F_TRACE:
		print_trace(r, &a->args[0], d->quiet);
		return 0;
	case KI_D_F_STACK:
	case KI_D_F_USTACK:
		ki_d_stack_print(d, take_word(r), frames_of(a), r->c->f);
		return 0;
	case KI_D_F_PRINTA:
		return print_aggregation(r, a);
	case KI_D_F_EXIT:
		d->run->exited = true;
		d->run->status = (int)take_word(r);
		return 0;
	case KI_D_F_CLEAR:
		return ki_d_agg_clear(d, a->agg, false, 0, r->c->err);
	case KI_D_F_TRUNC:
		return ki_d_agg_clear(d, a->agg, true, a->nargs ? (int64_t)take_word(r) : 0,
				      r->c->err);
	case KI_D_F_NORMALIZE:
		a->agg->normal = take_word(r);
		a->agg->normal += !a->agg->normal;
		return 0;
	default:
		a->agg->normal = 1;
		return 0;
	}
}

static void print_header(struct reading *r, unsigned int cpu)
{
	char name[512];

	if (!r->c->d->run->header)
		fprintf(r->c->f, "CPU     ID                    FUNCTION:NAME\n");
	r->c->d->run->header = true;
	snprintf(name, sizeof(name), "%s:%s", r->probe->function, r->probe->name);
	fprintf(r->c->f, "%3u %6u %32s ", cpu, r->number + 1, name);
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
	r.number = (uint32_t)take_word(&r);
	r.probe = &d->probes.v[r.number];
	if (b->begins && !d->quiet)
		print_header(&r, cpu);
	for (uint32_t i = b->first; !ret && i < b->first + b->n; i++)
		if (d->actions.v[i].node)
			ret = do_action(&r, &d->actions.v[i]);
	if (b->ends && !d->quiet)
		fputc('\n', c->f);
	return ret;
}
