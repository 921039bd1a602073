// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * What aggregations print: a row for each key, the lowest value first; a distribution is a row for
 * each bucket from before the first that is not empty to behind the last.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "dlang/format.h"
#include "dlang/probe.h"
#include "dlang/rows.h"

#define BAR 40

static void print_bar(FILE *f, uint64_t count, double total, uint64_t normal)
{
	int n = total > 0 ? (int)((double)count * BAR / total + 0.5) : 0;

	fputc('|', f);
	for (int i = 0; i < BAR; i++)
		fputc(i < n ? '@' : ' ', f);
	fprintf(f, " %-9" PRIu64 "\n", count / normal);
}

static void print_head(FILE *f)
{
	fprintf(f, "\n%16s %41s %-9s\n", "value", "------------- Distribution -------------",
		"count");
}

static void print_quantize(const struct ki_d_agg *a, const uint64_t *values, FILE *f)
{
	unsigned int first = KI_D_QUANTIZE_BUCKETS, last = 0;
	double total = 0;

	for (unsigned int i = 0; i < KI_D_QUANTIZE_BUCKETS; i++) {
		uint64_t count = ki_d_bucket_count(values, i);

		if (!count)
			continue;
		first = first < i ? first : i;
		last = i;
		total += (double)count;
	}
	if (first > last)
		first = last = KI_D_QUANTIZE_BUCKETS / 2;
	first -= first > 0;
	last += last < KI_D_QUANTIZE_BUCKETS - 1;
	print_head(f);
	for (unsigned int i = first; i <= last; i++) {
		fprintf(f, "%16" PRId64 " ", ki_d_bucket_low(i));
		print_bar(f, ki_d_bucket_count(values, i), total, a->normal);
	}
}

static void print_linear_label(const struct ki_d_agg *a, uint32_t bucket, uint32_t n, FILE *f)
{
	char text[32];
	int64_t low = a->linear.low, high;

	if (bucket)
		ki_linear_bounds(&a->linear, bucket, &low, &high);
	if (bucket == n - 1)
		low = a->linear.high;
	snprintf(text, sizeof(text), "%s%" PRId64,
		 !bucket	   ? "< "
		 : bucket == n - 1 ? ">= "
				   : "",
		 low);
	fprintf(f, "%16s ", text);
}

static void print_lquantize(const struct ki_d_agg *a, const uint64_t *values, FILE *f)
{
	uint32_t n = ki_linear_buckets(&a->linear), first = n, last = 0;
	double total = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (!values[i])
			continue;
		first = first < i ? first : i;
		last = i;
		total += (double)values[i];
	}
	if (first > last)
		first = last = 0;
	first -= first > 0;
	last += last < n - 1;
	print_head(f);
	for (uint32_t i = first; i <= last; i++) {
		print_linear_label(a, i, n, f);
		print_bar(f, values[i], total, a->normal);
	}
}

static int64_t normalized(const struct ki_d_agg *a, const uint64_t *values)
{
	int64_t n = ki_d_row_number(a, values);

	return a->normal == 1 ? n : n / (int64_t)a->normal;
}

static bool print_distribution(const struct ki_d_agg *a, const uint64_t *values, FILE *f)
{
	const enum ki_d_agg_kind kind = ki_d_agg_kind(a);

	if (kind == KI_D_QUANTIZE)
		print_quantize(a, values, f);
	else if (kind == KI_D_LQUANTIZE)
		print_lquantize(a, values, f);
	return kind == KI_D_QUANTIZE || kind == KI_D_LQUANTIZE;
}

/* ---- keys ---- */

/* Text of a key that is a string. */
static const char *key_text(const struct ki_dlang *d, uint8_t form, const uint64_t *key,
			    char text[8 * KI_D_STRING_WORDS + 1])
{
	size_t size = 8 * ki_d_form_words(form);

	if (form == KI_D_FORM_NUMBERED)
		return *key && *key <= d->strings.n ? d->strings.v[*key - 1] : "";
	memcpy(text, key, size);
	text[size] = 0;
	return text;
}

static void print_key(struct ki_dlang *d, const struct ki_d_agg *a, unsigned int i,
		      const uint64_t *key, FILE *f)
{
	static const uint8_t widths[] = {[1] = 3, [2] = 5, [4] = 8, [8] = 16};
	char text[8 * KI_D_STRING_WORDS + 1];

	if (a->forms[i] == KI_D_FORM_STACK)
		ki_d_stack_print(d, *key, 0, f);
	else if (a->forms[i] != KI_D_FORM_WORD)
		fprintf(f, "  %-50s", key_text(d, a->forms[i], key, text));
	else
		fprintf(f, " %*" PRId64, widths[ki_d_size(a->keys[i])], (int64_t)*key);
}

static void print_plain(struct ki_dlang *d, const struct ki_d_agg *a, const uint64_t *key,
			const uint64_t *values, FILE *f)
{
	for (unsigned int i = 0; i < a->nkeys; i++) {
		print_key(d, a, i, key, f);
		key += ki_d_form_words(a->forms[i]);
	}
	if (!print_distribution(a, values, f))
		fprintf(f, " %16" PRId64, normalized(a, values));
	fputc('\n', f);
}

/* One conversion of printa: the next key, or the value. Returns the key behind it. */
static const uint64_t *print_spec(struct ki_dlang *d, const struct ki_d_agg *a,
				  const struct ki_d_spec *s, const uint64_t *key, unsigned int *i,
				  FILE *f)
{
	char text[8 * KI_D_STRING_WORDS + 1];
	uint8_t form;

	if (*i >= a->nkeys)
		return key;
	form = a->forms[*i];
	if (form == KI_D_FORM_STACK)
		ki_d_stack_print(d, *key, 0, f);
	else if (form == KI_D_FORM_WORD)
		ki_d_format_number(f, s, s->width, a->keys[*i], *key);
	else
		ki_d_format_string(f, s, s->width, key_text(d, form, key, text));
	++*i;
	return key + ki_d_form_words(form);
}

static void print_formatted(struct ki_dlang *d, const struct ki_d_agg *a, const char *fmt,
			    const uint64_t *key, const uint64_t *values, FILE *f)
{
	struct ki_d_spec s;
	unsigned int i = 0;
	const char *why;

	while (ki_d_format_next(&fmt, &s, &why) > 0) {
		if (!s.conversion)
			fwrite(s.text, 1, s.len, f);
		else if (!s.at)
			key = print_spec(d, a, &s, key, &i, f);
		else if (!print_distribution(a, values, f))
			ki_d_format_number(f, &s, s.width, ki_d_int(KI_I64),
					   (uint64_t)normalized(a, values));
	}
}

int ki_d_agg_print(struct ki_dlang *d, struct ki_d_agg *a, const char *fmt, FILE *f,
		   struct ki_err *err)
{
	struct ki_d_rows r;
	int ret = ki_d_rows_read(d, a, &r, err);

	for (size_t i = 0; !ret && i < r.n; i++) {
		if (fmt)
			print_formatted(d, a, fmt, ki_d_row_key(&r, i), ki_d_row_values(&r, i), f);
		else
			print_plain(d, a, ki_d_row_key(&r, i), ki_d_row_values(&r, i), f);
	}
	if (!ret)
		ki_d_rows_free(&r);
	a->printed = true;
	return ret;
}

/* ---- stacks ---- */

#define INDENT 14

void ki_d_stack_print(struct ki_dlang *d, uint64_t number, unsigned int frames, FILE *f)
{
	struct ki_stack s;

	fputc('\n', f);
	if (!number || ki_stacks_get(d->run->stacks, number, &s))
		return;
	for (uint32_t i = 0; i < s.n && (!frames || i < frames); i++) {
		const struct ki_symbol *sym =
			s.tgid ? NULL : ki_target_symbol_at(d->run->t, s.addrs[i]);

		if (!sym)
			fprintf(f, "%*s0x%" PRIx64 "\n", INDENT, "", s.addrs[i]);
		else if (s.addrs[i] == sym->addr)
			fprintf(f, "%*s%s`%s\n", INDENT, "",
				*sym->module ? sym->module : KI_D_KERNEL, sym->name);
		else
			fprintf(f, "%*s%s`%s+0x%" PRIx64 "\n", INDENT, "",
				*sym->module ? sym->module : KI_D_KERNEL, sym->name,
				s.addrs[i] - sym->addr);
	}
}
