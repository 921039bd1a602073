// SPDX-License-Identifier: GPL-2.0-only
/*
 * A function for the page: its blocks, where code can be put, its instructions as they were and
 * as they stand, and which registers are free.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "live_inside.h"
#include "kerninst/match.h"
#include "kerninst/listing.h"

struct shown {
	struct live *live;
	struct ki_target *t;
	pid_t pid; /* 0: t is the kernel */
	const struct ki_function *fn;
	struct ki_spans spans;
	struct ki_listing now;
	ki_regset *used; /* registers whose value is used after each instruction */
	int unknown;	 /* 0, or why they are not known: -EAGAIN: they will be */
};

/* As points name it; in the kernel its name alone. */
static void put_name(const struct shown *f, const char *key, const struct ki_symbol *sym,
		     struct ki_json *j)
{
	char name[800];

	snprintf(name, sizeof(name), "%d/%s:%s", (int)f->pid, sym->module, sym->name);
	ki_json_str(j, key, f->pid ? name : sym->name);
}

static void put_edges(const struct shown *f, const struct ki_block *b, struct ki_json *j)
{
	ki_json_open(j, "edges", '[');
	for (uint32_t i = b->first_edge; i < b->first_edge + b->nedges; i++) {
		const struct ki_edge *e = &f->fn->edges[i];
		const struct ki_symbol *to = ki_target_symbol_at(f->t, e->to);

		ki_json_open(j, NULL, '{');
		ki_json_u64(j, "index", i);
		ki_json_str(j, "kind", ki_edge_kind_name(e->kind));
		if (e->to_block == KI_NONE)
			ki_json_str(j, "to", NULL);
		else
			ki_json_u64(j, "to", e->to_block);
		if (e->to_block == KI_NONE && to)
			put_name(f, "target", to, j);
		ki_json_close(j);
	}
	ki_json_close(j);
}

/* Where what is put at the beginning of a block stands. */
static void put_window(const struct shown *f, uint32_t block, struct ki_json *j)
{
	static const char *const boards[KI_BOARD_KINDS] = {
		[KI_BOARD_JMP] = "jump",
		[KI_BOARD_BOUNCE] = "bounce",
		[KI_BOARD_TRAP] = "int3",
	};
	const struct ki_point at = {.kind = KI_POINT_BLOCK, .block = block};
	const struct ki_span *span;
	struct ki_place *place = NULL;
	unsigned int reason = KI_R_NO_CODE;
	size_t n = 0;

	if (!ki_point_places(f->fn, &f->spans, &at, &place, &n, NULL) && n)
		reason = f->fn->reason ? f->fn->reason : place->reason;
	span = n && !reason ? ki_spans_at(&f->spans, f->fn, place->addr) : NULL;
	free(place);
	ki_json_open(j, "window", '{');
	if (span) {
		ki_json_str(j, "kind", boards[span->board]);
	} else {
		ki_json_str(j, "refused", ki_reason_tag(reason));
		ki_json_str(j, "message", ki_reason_text(reason));
	}
	ki_json_close(j);
}

static void put_blocks(const struct shown *f, struct ki_json *j)
{
	ki_json_open(j, "blocks", '[');
	for (uint32_t i = 0; i < f->fn->nblocks; i++) {
		const struct ki_block *b = &f->fn->blocks[i];

		ki_json_open(j, NULL, '{');
		ki_json_u64(j, "index", i);
		ki_json_hex(j, "addr", b->start);
		ki_json_hex(j, "end", b->end);
		put_edges(f, b, j);
		put_window(f, i, j);
		ki_json_close(j);
	}
	ki_json_close(j);
}

static void put_bytes(struct ki_json *j, const char *key, const uint8_t *v, size_t n)
{
	char hex[3 * 16];
	size_t at = 0;

	*hex = '\0';
	for (size_t i = 0; i < n && i < 15; i++)
		at += (size_t)snprintf(hex + at, sizeof(hex) - at, i ? " %02x" : "%02x", v[i]);
	ki_json_str(j, key, hex);
}

/* What begins here now; inside what was displaced nothing does. */
static void put_now_text(const struct shown *f, uint32_t insn, bool same, const char *text,
			 struct ki_json *j)
{
	char now[KI_LISTING_TEXT] = "";

	for (size_t i = 0; !same && i < f->now.lines.n; i++)
		if (f->now.lines.v[i].kind == KI_LISTING_CHANGED && f->now.lines.v[i].insn == insn)
			ki_listing_text(&f->now, &f->now.lines.v[i], now);
	ki_json_str(j, "now_text", same ? text : now);
}

static void put_free(const struct shown *f, uint32_t insn, struct ki_json *j)
{
	char text[KI_LISTING_TEXT] = "", *to = text;

	if (f->unknown)
		return;
	ki_regset_format(KI_REGSET_ALL & ~f->used[insn], text, sizeof(text));
	for (const char *from = text; *from; from++)
		if (*from != ',')
			*to++ = *from;
	*to = '\0';
	ki_json_str(j, "free", strcmp(text, "-") ? text : "");
}

static void put_insn(const struct shown *f, uint32_t i, uint32_t block, struct ki_json *j)
{
	const struct ki_insn *in = &f->fn->insns[i];
	const uint8_t *then = f->fn->bytes + (in->addr - f->fn->start);
	const uint8_t *now = f->now.bytes + (in->addr - f->fn->start);
	bool same = !memcmp(then, now, in->len);
	const struct ki_symbol *to = in->target ? ki_target_symbol_at(f->t, in->target) : NULL;
	char text[KI_LISTING_TEXT];

	ki_insn_format(f->fn, in, text, sizeof(text));
	ki_json_open(j, NULL, '{');
	ki_json_hex(j, "addr", in->addr);
	ki_json_u64(j, "block", block);
	put_bytes(j, "original", then, in->len);
	put_bytes(j, "now", now, in->len);
	ki_json_str(j, "text", text);
	put_now_text(f, i, same, text, j);
	if (to && to->addr == in->target)
		put_name(f, "target", to, j);
	put_free(f, i, j);
	if (in->reason)
		ki_json_str(j, "refused", ki_reason_tag(in->reason));
	ki_json_close(j);
}

static void put_insns(const struct shown *f, struct ki_json *j)
{
	ki_json_open(j, "insns", '[');
	for (uint32_t b = 0; b < f->fn->nblocks; b++)
		for (uint32_t i = 0; i < f->fn->blocks[b].count; i++)
			put_insn(f, f->fn->blocks[b].first + i, b, j);
	ki_json_close(j);
}

static const char *registers(const struct shown *f)
{
	return !f->unknown ? "known" : f->unknown == -EAGAIN ? "pending" : "unknown";
}

static void put_function(const struct shown *f, const char *name, struct reply *r)
{
	char module[300];
	struct doc d;

	if (doc_begin(&d)) {
		reply_no_memory(r);
		return;
	}
	snprintf(module, sizeof(module), "%d/%s", (int)f->pid, f->fn->symbol->module);
	ki_json_open(&d.j, NULL, '{');
	ki_json_str(&d.j, "name", name);
	ki_json_str(&d.j, "module", f->pid ? module : f->fn->symbol->module);
	ki_json_hex(&d.j, "addr", f->fn->start);
	ki_json_u64(&d.j, "size", f->fn->end - f->fn->start);
	if (f->fn->reason)
		reply_refused(&d.j, "refused", ki_reason_tag(f->fn->reason),
			      ki_reason_text(f->fn->reason));
	ki_json_str(&d.j, "registers", registers(f));
	put_blocks(f, &d.j);
	put_insns(f, &d.j);
	ki_json_close(&d.j);
	doc_reply(&d, r);
}

static void find_used(struct shown *f)
{
	f->used = calloc(f->fn->ninsns + 1, sizeof(*f->used));
	f->unknown = !f->used ? -ENOMEM : f->pid ? -ENODATA : live_known(f->live, f->fn, f->used);
}

static int show(struct shown *f, const struct ki_symbol *sym, const char *name, struct reply *r,
		struct ki_err *err)
{
	struct ki_function *fn;
	int ret = ki_function_analyze(f->t, sym, &fn, err);

	if (ret)
		return ret;
	f->fn = fn;
	ret = ki_spans_find(fn, &f->spans, err);
	if (!ret)
		ret = ki_listing_new(&f->now, fn, fn->start, true, KI_SYNTAX_INTEL, err);
	if (!ret) {
		find_used(f);
		put_function(f, name, r);
		ki_listing_free(&f->now);
	}
	free(f->used);
	ki_spans_free(&f->spans);
	ki_function_free(fn);
	return ret;
}

static int note_symbol(void *ctx, const struct ki_symbol *sym)
{
	const struct ki_symbol **to = ctx;

	*to = *to ? *to : sym;
	return 0;
}

/* Where the function is looked for. */
static struct ki_target *open_of(struct live *l, pid_t pid, const struct ki_pointspec *spec,
				 struct ki_err *err)
{
	if (pid)
		return live_process_function(l, pid, spec, err);
	return live_refresh(l, err) ? NULL : l->look;
}

void live_function(struct source *s, const char *name, struct reply *r)
{
	struct shown f = {.live = live_of(s)};
	const struct ki_symbol *sym = NULL;
	struct ki_pointspec spec;
	struct ki_err err = {0};
	char nothing[KI_MATCH_WHY];
	const char *why, *behind;
	size_t n;

	f.pid = ki_pointspec_process(name, &behind);
	if (ki_pointspec_parse(behind, &spec, &why) || spec.suffix != KI_POINTSPEC_NONE ||
	    ki_pointspec_is_glob(behind)) {
		reply_error(r, 400, "BAD_NAME", "a function is [PID/][MODULE:]NAME[@0xADDRESS]");
		return;
	}
	f.t = open_of(f.live, f.pid, &spec, &err);
	if (f.t)
		ki_match_each(f.t, &spec, note_symbol, &sym, &n);
	if (f.t && !sym) {
		ki_match_nothing(f.t, &spec, nothing);
		reply_error(r, 404, ki_reason_tag(KI_R_NO_SYMBOL), "%s", nothing);
		return;
	}
	if (!f.t || show(&f, sym, name, r, &err))
		reply_error(r, 409, reply_tag(&err), "%s", err.msg);
}
