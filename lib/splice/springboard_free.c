// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Bytes that bounces may take: filler, tails and joints (springboard_choice.c).
 */
#include "splice/springboard_boards.h"

static bool is_prefix(uint8_t b)
{
	return b == 0x66 || b == 0x67 || b == 0x2e || b == 0x3e || b == 0x26 || b == 0x36 ||
	       b == 0x64 || b == 0x65;
}

bool ki_insn_is_filler(const struct ki_function *fn, const struct ki_insn *in)
{
	const uint8_t *p = fn->bytes + (in->addr - fn->start);
	uint8_t i = 0;

	if (in->kind != KI_INSN_PAD || in->block_start)
		return false;
	while (i < in->len && is_prefix(p[i]))
		i++;
	if (i + 1 < in->len && (p[i] & 0xf0) == 0x40 && p[i + 1] == 0x0f)
		i++; /* REX */
	if (i + 1 < in->len)
		return p[i] == 0x0f && p[i + 1] == 0x1f;
	return i < in->len && (p[i] == 0xcc || (p[i] == 0x90 && (!i || *p == 0x66)));
}

/* iret is a return too, but the driver does not take it for one. */
static bool opens_filler(const struct ki_function *fn, const struct ki_insn *in)
{
	return ki_insn_ends(in) && fn->bytes[in->addr - fn->start + in->len - 1u] != 0xcf;
}

static void add_free(struct ki_boards *b, uint64_t start, uint64_t end, uint32_t window)
{
	struct ki_free *last = b->nfree ? &b->free[b->nfree - 1] : NULL;

	if (window == KI_NONE && last && last->window == KI_NONE && last->end == start)
		last->end = last->own_end = last->group_end = end;
	else
		b->free[b->nfree++] = (struct ki_free){.start = start,
						       .end = end,
						       .own_end = end,
						       .group_end = end,
						       .window = window};
}

static bool may_fault(const struct ki_insn *in)
{
	return in->flags & KI_INSN_EXTABLE;
}

/* Where the bytes of a window end that a bounce may take: perhaps under its springboard. */
static uint64_t tail_end(const struct ki_function *fn, const struct ki_span *s)
{
	for (uint32_t i = s->first; i < s->first + s->count; i++) {
		const struct ki_insn *in = &fn->insns[i];

		if (ki_insn_is_call(in) || (i > s->first && may_fault(in)))
			return in->addr;
	}
	return s->addr + s->len;
}

static void add_tail(struct ki_boards *b, size_t w)
{
	uint64_t start = b->v[w].addr + KI_JMP_LEN, end = tail_end(b->fn, &b->v[w]);

	add_free(b, start, end > start ? end : start, (uint32_t)w);
}

/*
 * All free bytes, in order of address. What filler a window has taken is not free; nor is what
 * the kernel may write after a short jump or return at the place of a static call.
 */
static void find_free(struct ki_boards *b)
{
	const struct ki_function *fn = b->fn;
	uint64_t from = 0;
	bool dead = false;
	size_t w = 0;

	for (uint32_t i = 0; i < fn->ninsns; i++) {
		const struct ki_insn *in = &fn->insns[i];

		if (dead && ki_insn_is_filler(fn, in)) {
			if (in->addr >= from)
				add_free(b, in->addr, in->addr + in->len, KI_NONE);
			continue;
		}
		dead = opens_filler(fn, in);
		if (dead && in->reason == KI_R_STATIC_CALL)
			from = in->addr + KI_JMP_LEN;
		while (w < b->n && b->v[w].first + b->v[w].count <= i)
			w++;
		if (w == b->n || b->v[w].first > i)
			continue;
		from = b->v[w].addr + b->v[w].len;
		if (b->v[w].first == i && b->v[w].len >= KI_JMP_LEN)
			add_tail(b, w);
	}
}

bool ki_spans_adjoin(const struct ki_function *fn, const struct ki_span *s)
{
	const struct ki_span *prev = s - 1;
	const struct ki_insn *first = &fn->insns[s->first];

	return prev->first + prev->count == s->first && prev->len >= KI_JMP_LEN &&
	       s->len >= KI_JMP_LEN && !first->block_start && !may_fault(first) &&
	       tail_end(fn, prev) == s->addr && tail_end(fn, s) >= s->addr + KI_JMP_LEN;
}

/* Join all that can be joined: the first tail of each group reaches to the group's end. */
static void join_all(struct ki_boards *b)
{
	struct ki_free *head = NULL;
	uint32_t insns = 0;

	for (size_t i = 0; i < b->nfree; i++) {
		struct ki_free *f = &b->free[i];
		const struct ki_span *s = f->window == KI_NONE ? NULL : &b->v[f->window];

		if (s && head && ki_spans_adjoin(b->fn, s) &&
		    f->end - (head->start - KI_JMP_LEN) <= KI_WINDOW_MAX &&
		    insns + s->count <= KI_WINDOW_INSNS) {
			head->end = head->group_end = f->end;
			f->off = true;
			insns += s->count;
			continue;
		}
		head = s ? f : NULL;
		insns = s ? s->count : 0;
	}
}

void ki_boards_find_free(struct ki_boards *b)
{
	find_free(b);
	join_all(b);
}
