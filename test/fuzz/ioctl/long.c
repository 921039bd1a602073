// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests with long chunks. What comes out of mutations may still be code that the driver accepts,
 * and the driver does not know which registers are free: so it stands where nothing comes.
 */
#include <string.h>

#include "guest/long/samples.h"
#include "fuzz.h"

static void fill_fixups(struct ki_fixup *out, const struct long_sample *m, const struct session *s)
{
	for (size_t i = 0; m->fix + i < m->fix_end; i++) {
		out[i] = m->fix[i];
		if (out[i].kind == KI_FIX_PERCPU)
			out[i].target += s->first_counter;
		if (out[i].kind == KI_FIX_GLOBAL)
			out[i].target += s->first_global;
		if (out[i].kind == KI_FIX_WORD)
			out[i].target += s->first_word;
		if (out[i].kind == KI_FIX_CALLEE)
			out[i].target += getppid_entry->window.addr - 5; /* or not a function's */
	}
}

/* Nothing is read back from the arena: another thread may be scribbling there. */
static struct ki_long *make_code(struct request *q, const struct session *s, struct arena *a,
				 struct rng *r)
{
	const struct long_sample *m = &__start_long_samples[rng_below(
		r, (uint32_t)(__stop_long_samples - __start_long_samples))];
	uint32_t len = (uint32_t)(m->code_end - m->code), nfix = (uint32_t)(m->fix_end - m->fix);
	struct ki_long *req = request_piece(q, a, sizeof(*req));
	uint8_t *code = request_piece(q, a, len);
	struct ki_fixup *fix = request_piece(q, a, nfix * sizeof(*fix));

	memcpy(code, m->code, len);
	fill_fixups(fix, m, s);
	*req = (struct ki_long){
		.len = len, .nfix = nfix, .code = (uintptr_t)code, .fixups = (uintptr_t)fix};
	return req;
}

void request_make_long(struct request *q, const struct session *s, struct arena *a, struct rng *r)
{
	const struct template *t = corpus_never_run(r);
	uint32_t n = t->window.ncopy, nchunks = 1 + rng_below(r, 3);
	struct ki_splice *req = request_piece(q, a, sizeof(*req));
	struct ki_window *window = request_piece(q, a, sizeof(*window));
	struct ki_copy *copies = request_piece(q, a, n * sizeof(*copies));
	struct ki_chunk *chunks = request_piece(q, a, nchunks * sizeof(*chunks));
	struct ki_long *code = make_code(q, s, a, r);

	*window = t->window;
	memcpy(copies, t->copies, n * sizeof(*copies));
	for (uint32_t i = 0; i < nchunks; i++)
		chunks[i] = (struct ki_chunk){
			.insn = (uint8_t)rng_below(r, n),
			.kind = KI_CHUNK_LONG,
			.order = (uint16_t)rng_next(r),
			.target = (uintptr_t)code,
		};
	q->cmd = KI_IOC_SPLICE;
	*req = (struct ki_splice){
		.size = sizeof(*req),
		.flags = rng_one_in(r, 8) && !t->waits ? 0 : KI_SPLICE_DRY_RUN,
		.windows = (uintptr_t)window,
		.copies = (uintptr_t)copies,
		.chunks = (uintptr_t)chunks,
		.nwindows = 1,
		.ncopies = n,
		.nchunks = nchunks,
	};
}
