// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include "kerninst/windows.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "kerninst/springboards.h"
#include "out/json.h"

/* Of a function without any window that can be used: what is in the way at its entry. */
static unsigned int why_not(const struct ki_window_list *w)
{
	const struct ki_point entry = {.kind = KI_POINT_ENTRY};
	unsigned int reason = KI_R_NO_CODE;
	struct ki_place *place = NULL;
	size_t n;

	if (w->fn->reason)
		return w->fn->reason;
	if (w->ready)
		return KI_R_OK;
	if (!ki_point_places(w->fn, &w->spans, &entry, &place, &n, NULL) && n && place->reason)
		reason = place->reason;
	free(place);
	return reason;
}

int ki_window_list_find(struct ki_window_list *w, struct ki_target *t, const struct ki_symbol *sym,
			struct ki_err *err)
{
	int ret;

	*w = (struct ki_window_list){.sym = sym};
	ret = ki_function_analyze(t, sym, &w->fn, err);
	if (!ret)
		ret = ki_spans_find(w->fn, &w->spans, err);
	if (ret) {
		ki_window_list_free(w);
		return ret;
	}
	w->blocks = w->fn->nblocks;
	for (uint32_t b = 0; b < w->blocks; b++)
		w->insns += w->fn->blocks[b].count;
	w->ready = w->spans.n;
	w->reason = why_not(w);
	return 0;
}

void ki_window_list_free(struct ki_window_list *w)
{
	ki_spans_free(&w->spans);
	ki_function_free(w->fn);
	w->fn = NULL;
}

/* Each alias of the function by name, for text or JSON. */
static void each_alias(const struct ki_window_list *w, struct ki_json *j, FILE *out)
{
	size_t n;
	const struct ki_symbol *all = ki_target_symbols(w->fn->target, &n), *end = all + n;

	for (const struct ki_symbol *s = w->sym + 1; s < end && s->addr == w->sym->addr; s++) {
		if (j)
			ki_json_str(j, NULL, s->name);
		else
			fprintf(out, "  alias %s\n", s->name);
	}
}

static void print_insn(const struct ki_window_list *w, const struct ki_insn *in, FILE *out)
{
	char text[128];

	ki_insn_format(w->fn, in, text, sizeof(text));
	fprintf(out, "      +0x%-5" PRIx64 " %s\n", in->addr - w->fn->start, text);
}

static void print_window(const struct ki_window_list *w, const struct ki_span *s, FILE *out)
{
	fprintf(out, "    window 0x%" PRIx64 "  %u bytes  %u instructions  %-7s  %s", s->addr,
		s->len, s->count, ki_span_waits(s, w->fn) ? "wait" : "no wait",
		ki_springboard_name(s->board));
	if (s->bounce)
		fprintf(out, " at 0x%" PRIx64 " in %s", s->bounce,
			s->host == KI_NONE ? "filler" : "the tail of window");
	if (s->host != KI_NONE)
		fprintf(out, " 0x%" PRIx64, w->spans.v[s->host].addr);
	fputc('\n', out);
}

static void print_block(const struct ki_window_list *w, uint32_t b, FILE *out)
{
	const struct ki_block *blk = &w->fn->blocks[b];

	fprintf(out, "  block %u  0x%" PRIx64 "  %" PRIu64 " bytes\n", b, blk->start,
		blk->end - blk->start);
	for (uint32_t i = blk->first; i < blk->first + blk->count; i++) {
		const struct ki_insn *in = &w->fn->insns[i];
		const struct ki_span *s = ki_spans_at(&w->spans, w->fn, in->addr);
		struct ki_copy copy;

		if (s && s->first == i)
			print_window(w, s, out);
		else if (!s)
			fprintf(out, "    no window: %s\n",
				ki_reason_tag(ki_relocate(
					in, w->fn->bytes + (in->addr - w->fn->start), &copy)));
		print_insn(w, in, out);
	}
}

void ki_window_list_print(const struct ki_window_list *w, FILE *out)
{
	fprintf(out, "%s:%s  0x%" PRIx64 "  %" PRIu64 " bytes  %u blocks  %zu windows  %s\n",
		ki_symbol_module(w->sym), w->sym->name, w->sym->addr, w->sym->size, w->blocks,
		w->ready, w->reason ? ki_reason_tag(w->reason) : "yes");
	each_alias(w, NULL, out);
	for (uint32_t b = 0; !w->fn->reason && b < w->fn->nblocks; b++)
		print_block(w, b, out);
}

void ki_window_list_json(const struct ki_window_list *w, struct ki_json *j)
{
	ki_json_open(j, "aliases", '[');
	each_alias(w, j, NULL);
	ki_json_close(j);
	ki_json_open(j, "window_list", '[');
	for (size_t i = 0; i < w->spans.n; i++) {
		const struct ki_span *s = &w->spans.v[i];

		ki_json_open(j, NULL, '{');
		ki_json_hex(j, "address", s->addr);
		ki_json_u64(j, "bytes", s->len);
		ki_json_u64(j, "instructions", s->count);
		ki_json_str(j, "springboard", ki_springboard_name(s->board));
		if (s->bounce)
			ki_json_hex(j, "bounce", s->bounce);
		if (s->host != KI_NONE)
			ki_json_hex(j, "host", w->spans.v[s->host].addr);
		ki_json_bool(j, "wait", ki_span_waits(s, w->fn));
		ki_json_close(j);
	}
	ki_json_close(j);
}
