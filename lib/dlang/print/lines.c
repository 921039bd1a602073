// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include "dlang/print/lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dlang/print/bars.h"
#include "dlang/print/show.h"
#include "dlang/print/sort.h"
#include "dlang/print/aggregate.h"

static void put_probe(struct ki_json *j, const struct ki_d_probe *p)
{
	char name[512];

	snprintf(name, sizeof(name), "%s:%s:%s:%s", ki_d_provider_name(p), p->module, p->function,
		 p->name);
	ki_json_u64(j, "id", p->id);
	ki_json_str(j, "probe", name);
}

static void put_number(struct ki_json *j, const char *key, struct ki_d_type t, uint64_t value)
{
	if (ki_d_num(t) < KI_U8)
		ki_json_i64(j, key, (int64_t)value);
	else
		ki_json_u64(j, key, value);
}

static void put_stack(struct ki_json *j, struct ki_dlang *d, struct ki_d_type t, uint64_t word)
{
	char text[KI_D_ADDRESS];
	struct ki_stack s;

	ki_json_open(j, NULL, '[');
	if (!ki_d_stack_get(d, word, &s))
		for (uint32_t i = 0; i < s.n && (!t.num || i < t.num); i++)
			ki_json_str(j, NULL,
				    s.tgid ? ki_d_user_address(d, s.tgid, s.addrs[i], text)
					   : ki_d_address(d, s.addrs[i], text));
	ki_json_close(j);
}

/* ---- records ---- */

int ki_d_line_begin(struct ki_d_line *l, const struct ki_d_reading *r, unsigned int cpu)
{
	*l = (struct ki_d_line){.f = NULL};
	l->f = open_memstream(&l->line, &l->nline);
	l->captured = open_memstream(&l->text, &l->ntext);
	if (!l->f || !l->captured)
		return ki_d_no_memory(r->c->err);
	ki_json_init(&l->j, l->f);
	ki_json_open(&l->j, NULL, '{');
	ki_json_str(&l->j, "type", "record");
	ki_json_u64(&l->j, "cpu", cpu);
	put_probe(&l->j, r->probe);
	ki_json_open(&l->j, "values", '[');
	return 0;
}

/* trace() of a struct or an array: a string, if its bytes are one. */
static void put_bytes(struct ki_json *j, struct ki_d_reading *r, const struct ki_d_arg *a)
{
	uint8_t *bytes = ki_d_take_bytes(r, a->size);
	char *text = bytes && ki_d_show_is_text(bytes, a->size)
			     ? strndup((const char *)bytes, a->size)
			     : NULL;

	if (text)
		ki_json_str(j, NULL, text);
	free(text);
	free(bytes);
}

static void put_value(struct ki_json *j, struct ki_d_reading *r, const struct ki_d_arg *a)
{
	char place[KI_D_ADDRESS];

	if (a->form == KI_D_FORM_STACK)
		put_stack(j, r->c->d, a->node->type, ki_d_take_word(r));
	else if (ki_d_is_place(a->node->type))
		ki_json_str(j, NULL, ki_d_take_place(r, a, place));
	else if (a->form == KI_D_FORM_WORD)
		put_number(j, NULL, a->node->type, ki_d_take_word(r));
	else if (a->form == KI_D_FORM_BYTES)
		put_bytes(j, r, a);
	else
		ki_json_str(j, NULL, ki_d_take_text(r, a));
}

static void put_packet(struct ki_json *j, struct ki_d_reading *r, const struct ki_d_action *a)
{
	static const char digits[] = "0123456789abcdef";
	struct ki_d_packet p;
	char *text;

	if (ki_d_take_packet(r, a, &p))
		return;
	text = calloc(2 * (size_t)p.size + 1, 1);
	for (uint32_t i = 0; text && i < 2 * p.size; i++)
		text[i] = digits[p.bytes[i / 2] >> (i % 2 ? 0 : 4) & 15];
	ki_json_open(j, NULL, '{');
	ki_json_u64(j, "protocol", p.kind);
	ki_json_u64(j, "time", p.time);
	ki_json_u64(j, "length", p.length);
	ki_json_str(j, "bytes", text);
	ki_json_close(j);
	free(text);
	free(p.bytes);
}

bool ki_d_line_action(struct ki_d_line *l, const struct ki_d_reading *r,
		      const struct ki_d_action *a)
{
	struct ki_d_reading values = *r;

	switch (a->node->sym.function->kind) {
	case KI_D_F_PRINTF:
	case KI_D_F_TRACE:
	case KI_D_F_PLACE:
	case KI_D_F_STACK:
	case KI_D_F_USTACK:
		for (unsigned int i = 0; i < a->nargs; i++)
			put_value(&l->j, &values, &a->args[i]);
		return true;
	case KI_D_F_PCAP:
		put_packet(&l->j, &values, a);
		return true;
	default:
		return a->node->sym.function->kind == KI_D_F_PRINT ||
		       a->node->sym.function->kind == KI_D_F_TRACEMEM;
	}
}

void ki_d_line_text(struct ki_d_line *l, struct ki_d_consumer *c, bool captured)
{
	if (captured)
		l->was = c->f;
	c->f = captured ? l->captured : l->was;
}

int ki_d_line_end(struct ki_d_line *l, struct ki_d_consumer *c, int ret)
{
	if (l->captured && fclose(l->captured))
		ret = ret ? ret : ki_d_no_memory(c->err);
	if (!ret) {
		ki_json_close(&l->j);
		ki_json_str(&l->j, "text", l->text);
		ki_json_close(&l->j);
		if (ki_json_end_line(&l->j))
			ret = ki_d_no_memory(c->err);
	}
	if (l->f && fclose(l->f))
		ret = ret ? ret : ki_d_no_memory(c->err);
	if (!ret)
		fwrite(l->line, 1, l->nline, c->f);
	free(l->line);
	free(l->text);
	return ret;
}

int ki_d_line_error(struct ki_d_consumer *c, const struct ki_d_probe *p, const char *text)
{
	struct ki_json j;

	ki_json_init(&j, c->f);
	ki_json_open(&j, NULL, '{');
	ki_json_str(&j, "type", "error");
	put_probe(&j, p);
	ki_json_str(&j, "text", text);
	ki_json_close(&j);
	return ki_json_end_line(&j) ? ki_d_no_memory(c->err) : 0;
}

/* ---- aggregations ---- */

static void put_key(struct ki_json *j, struct ki_dlang *d, const struct ki_d_joined *row)
{
	const struct ki_d_agg *a = row->of;
	const uint64_t *key = row->key;
	char text[KI_D_KEY_TEXT], place[KI_D_ADDRESS];

	ki_json_open(j, "key", '[');
	for (unsigned int i = 0; i < a->nkeys; i++) {
		if (a->forms[i] == KI_D_FORM_STACK)
			put_stack(j, d, a->keys[i], *key);
		else if (ki_d_is_place(a->keys[i]))
			ki_json_str(
				j, NULL,
				ki_d_place_text(d, (enum ki_d_place)a->keys[i].num, key, place));
		else if (a->forms[i] == KI_D_FORM_WORD)
			put_number(j, NULL, a->keys[i], *key);
		else
			ki_json_str(j, NULL, ki_d_key_text(d, a->forms[i], key, text));
		key += ki_d_form_words(a->forms[i]);
	}
	ki_json_close(j);
}

static void put_row_value(struct ki_json *j, const struct ki_d_agg *a, const uint64_t *values)
{
	uint32_t bucket = 0;
	int64_t low, count;

	if (!ki_d_is_distribution(a)) {
		ki_json_i64(j, "value", ki_d_agg_value(a, values));
		return;
	}
	ki_json_open(j, "buckets", '[');
	while (ki_d_bars_next(a, values, &bucket, &low, &count)) {
		ki_json_open(j, NULL, '{');
		ki_json_i64(j, "low", low);
		ki_json_i64(j, "count", count);
		ki_json_close(j);
	}
	ki_json_close(j);
}

static int put_aggregation(struct ki_d_consumer *c, struct ki_d_agg *a)
{
	struct ki_json j;
	struct ki_d_join rows;
	int ret = ki_d_join_read(c->d, &a, 1, &rows, c->err);

	ki_json_init(&j, c->f);
	ki_json_open(&j, NULL, '{');
	ki_json_str(&j, "type", "aggregation");
	ki_json_str(&j, "name", a->name);
	ki_json_str(&j, "function", a->fn->name);
	ki_json_open(&j, "rows", '[');
	for (size_t i = 0; !ret && i < rows.nv; i++) {
		ki_json_open(&j, NULL, '{');
		put_key(&j, c->d, &rows.v[i]);
		put_row_value(&j, a, rows.v[i].values[0]);
		ki_json_close(&j);
	}
	ki_json_close(&j);
	ki_json_close(&j);
	ki_d_join_free(&rows);
	a->printed = true;
	if (!ret && ki_json_end_line(&j))
		ret = ki_d_no_memory(c->err);
	return ret;
}

int ki_d_line_aggregations(struct ki_d_consumer *c, struct ki_d_agg *const *aggs, unsigned int n)
{
	int ret = 0;

	for (unsigned int i = 0; !ret && i < n; i++)
		ret = put_aggregation(c, aggs[i]);
	return ret;
}
