// SPDX-License-Identifier: GPL-2.0-only
#include "hand.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

void hand_die(const char *what, const struct ki_err *err)
{
	fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what,
		err && err->msg[0] ? err->msg : strerror(errno));
	exit(2);
}

void hand_window(struct ki_target *t, const char *function, struct hand_window *out)
{
	const struct ki_symbol *sym = ki_target_symbol_named(t, "", function, NULL);
	struct ki_window *w = &out->window;
	struct ki_err err = {0};
	struct ki_function *fn;
	struct ki_spans spans;
	const struct ki_span *s;

	if (!sym || ki_function_analyze(t, sym, &fn, &err) || ki_spans_find(fn, &spans, &err))
		hand_die(function, &err);
	for (s = spans.v; s->board != KI_BOARD_JMP; s++)
		;
	*out = (struct hand_window){.window = {.addr = s->addr, .len = s->len, .board = s->board}};
	memcpy(w->orig, fn->bytes + (s->addr - fn->start), s->len);
	for (; w->ncopy < s->count; w->ncopy++) {
		const struct ki_insn *in = &fn->insns[s->first + w->ncopy];

		if (ki_relocate(in, fn->bytes + (in->addr - fn->start), &out->copies[w->ncopy]))
			hand_die("relocate", NULL);
	}
	ki_spans_free(&spans);
	ki_function_free(fn);
}

static uint32_t make_fixups(const struct long_sample *s, const struct hand_numbers *numbers,
			    struct ki_fixup *out)
{
	const uint64_t from[KI_FIX_KINDS] = {[KI_FIX_PERCPU] = numbers->counter,
					     [KI_FIX_GLOBAL] = numbers->global,
					     [KI_FIX_WORD] = numbers->word,
					     [KI_FIX_CALLEE] = numbers->callee};
	uint32_t n = 0;

	for (const struct ki_fixup *f = s->fix; f < s->fix_end; f++, n++) {
		out[n] = *f;
		out[n].target += from[f->kind];
	}
	return n;
}

uint32_t hand_install(struct ki_target *t, const struct hand_window *w, const struct long_sample *s,
		      const struct hand_numbers *n, uint32_t *id)
{
	struct ki_fixup fix[64];
	uint8_t code[4096];
	struct ki_window window = w->window;
	struct ki_long more = {.len = (uint32_t)(s->code_end - s->code),
			       .nfix = make_fixups(s, n, fix),
			       .code = (uintptr_t)code,
			       .fixups = (uintptr_t)fix};
	struct ki_chunk chunk = {.kind = KI_CHUNK_LONG, .target = (uintptr_t)&more};
	struct ki_splice req = {.size = sizeof(req),
				.windows = (uintptr_t)&window,
				.copies = (uintptr_t)w->copies,
				.chunks = (uintptr_t)&chunk,
				.nwindows = 1,
				.ncopies = window.ncopy,
				.nchunks = 1};

	memcpy(code, s->code, more.len);
	if (!ioctl(ki_target_fd(t), KI_IOC_SPLICE, &req)) {
		*id = chunk.id;
		return KI_R_OK;
	}
	return chunk.reason ? chunk.reason : req.reason ? req.reason : KI_R_BAD_REQUEST;
}

void hand_code(const struct long_sample *s, const struct hand_numbers *n, struct hand_code *out)
{
	*out = (struct hand_code){.len = (uint32_t)(s->code_end - s->code)};
	out->nfix = make_fixups(s, n, out->fix);
	memcpy(out->code, s->code, out->len);
}

uint32_t hand_ask(struct ki_target *t, const struct hand_window *w,
		  const struct hand_code *const *v, uint32_t n)
{
	struct ki_window window = w->window;
	struct ki_long more[2];
	struct ki_chunk chunks[2] = {{0}};
	struct ki_splice req = {.size = sizeof(req),
				.flags = KI_SPLICE_DRY_RUN,
				.windows = (uintptr_t)&window,
				.copies = (uintptr_t)w->copies,
				.chunks = (uintptr_t)chunks,
				.nwindows = 1,
				.ncopies = window.ncopy,
				.nchunks = n};

	for (uint32_t i = 0; i < n; i++) {
		more[i] = (struct ki_long){.len = v[i]->len,
					   .nfix = v[i]->nfix,
					   .code = (uintptr_t)v[i]->code,
					   .fixups = (uintptr_t)v[i]->fix};
		chunks[i] = (struct ki_chunk){.kind = KI_CHUNK_LONG, .target = (uintptr_t)&more[i]};
	}
	if (!ioctl(ki_target_fd(t), KI_IOC_SPLICE, &req))
		return KI_R_OK;
	if (chunks[0].reason && n > 1)
		hand_die("the sample is refused", NULL);
	return chunks[n - 1].reason ? chunks[n - 1].reason : KI_R_BAD_REQUEST;
}

void hand_take_out(struct ki_target *t, uint32_t id)
{
	struct ki_unsplice req = {.size = sizeof(req), .ids = (uintptr_t)&id, .count = 1};

	if (ioctl(ki_target_fd(t), KI_IOC_UNSPLICE, &req))
		hand_die("unsplice", NULL);
}

struct ki_info hand_info(struct ki_target *t)
{
	struct ki_info info = {.size = sizeof(info)};

	if (ioctl(ki_target_fd(t), KI_IOC_INFO, &info))
		hand_die("info", NULL);
	return info;
}
