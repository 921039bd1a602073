/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * copies: every window of the running kernel and its modules is sent to the driver, which checks it
 * and changes nothing. Both have a relocator and a decoder of their own; here they must agree on
 * each instruction. Prints how many windows there were, and how often each reason came back.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "kerninst/splice.h"

#define BATCH 4096  /* windows, or as many as a function has: some bounce in others */
#define MOST  61440 /* of a function */

static struct ki_target *target;
static struct ki_err err;
static struct ki_window windows[BATCH + MOST];
static struct ki_copy copies[(BATCH + MOST) * KI_WINDOW_INSNS];
static struct ki_chunk chunks[BATCH + MOST];
static const char *names[BATCH + MOST];
static uint32_t nwindows, ncopies, counter;
static size_t total, insns, reasons[KI_R_COUNT], kinds[KI_INSN_BAD + 1], boards[KI_BOARD_KINDS];

static void die(const char *what)
{
	fprintf(stderr, "copies: %s: %s\n", what, err.msg);
	exit(2);
}

static void note(const struct ki_window *w, const char *name)
{
	if (reasons[w->reason]++ < 3 && w->reason)
		fprintf(stderr, "%s 0x%llx in %s\n", ki_reason_tag(w->reason),
			(unsigned long long)w->addr, name);
}

static void send_batch(void)
{
	struct ki_splice req = {
		.size = sizeof(req),
		.flags = KI_SPLICE_DRY_RUN,
		.windows = (uintptr_t)windows,
		.copies = (uintptr_t)copies,
		.chunks = (uintptr_t)chunks,
		.nwindows = nwindows,
		.ncopies = ncopies,
		.nchunks = nwindows,
	};

	if (nwindows && ioctl(ki_target_fd(target), KI_IOC_SPLICE, &req) && !req.reason) {
		fprintf(stderr, "copies: %s\n", strerror(errno));
		exit(2);
	}
	for (uint32_t i = 0; i < nwindows; i++) {
		note(&windows[i], names[i]);
		reasons[chunks[i].reason] += chunks[i].reason != KI_R_OK;
	}
	total += nwindows;
	nwindows = ncopies = 0;
}

static void add_chunk(uint32_t window)
{
	struct ki_chunk *c = &chunks[window];
	struct ki_code code;

	ki_snippet_count(&code, counter, true);
	*c = (struct ki_chunk){.window = window, .len = code.len, .nfix = code.nfix};
	memcpy(c->fix, code.fix, sizeof(c->fix));
	memcpy(c->code, code.code, code.len);
}

static void add_window(const struct ki_function *fn, const struct ki_span *s)
{
	struct ki_window *w = &windows[nwindows];

	*w = (struct ki_window){.addr = s->addr,
				.bounce = s->bounce,
				.board = s->board,
				.len = s->len,
				.ncopy = s->count,
				.first_copy = ncopies};
	boards[s->board]++;
	memcpy(w->orig, fn->bytes + (s->addr - fn->start), s->len);
	for (uint32_t i = s->first; i < s->first + s->count; i++) {
		const struct ki_insn *in = &fn->insns[i];

		if (ki_relocate(in, fn->bytes + (in->addr - fn->start), &copies[ncopies++]))
			die("a window of what cannot be relocated");
		kinds[in->kind]++;
		insns++;
	}
	names[nwindows] = fn->symbol->name;
	add_chunk(nwindows++);
}

static void add_function(const struct ki_symbol *sym)
{
	struct ki_function *fn;
	struct ki_spans spans;

	if (ki_function_analyze(target, sym, &fn, &err) || ki_spans_find(fn, &spans, &err))
		die(sym->name);
	if (nwindows >= BATCH ||
	    (nwindows && fn->start < windows[nwindows - 1].addr + windows[nwindows - 1].len))
		send_batch();
	for (size_t i = 0; i < spans.n && i < MOST; i++)
		add_window(fn, &spans.v[i]);
	ki_spans_free(&spans);
	ki_function_free(fn);
}

int main(void)
{
	const struct ki_symbol *syms;
	size_t n;

	if (ki_target_new_live(&target, &err) || ki_counters_take(target, 1, &counter, &err))
		die("open");
	syms = ki_target_symbols(target, &n);
	for (size_t i = 0; i < n; i++)
		if (!syms[i].alias)
			add_function(&syms[i]);
	send_batch();
	printf("jumps %zu\nbounces %zu\nbreakpoints %zu\n", boards[KI_BOARD_JMP],
	       boards[KI_BOARD_BOUNCE], boards[KI_BOARD_TRAP]);
	printf("windows %zu\ninstructions %zu\nloops %zu\ntraps %zu\n", total, insns,
	       kinds[KI_INSN_LOOP], kinds[KI_INSN_TRAP]);
	for (unsigned int r = 0; r < KI_R_COUNT; r++)
		if (reasons[r])
			printf("%s %zu\n", ki_reason_tag(r), reasons[r]);
	ki_target_free(target);
	return 0;
}
