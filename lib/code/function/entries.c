/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Entries into the middle of functions from the code of other symbols: cold parts jump back
 * into their parents, assembly into whatever it likes.
 *
 * The whole text is scanned bytewise, once, for what could be a call, jmp or jcc with a 32-bit
 * displacement. Few of the candidates lead out of their own symbol to somewhere else than the
 * start of another; those are checked by decoding their own symbol up to them. Branches with 8
 * bits reach only neighbours and are looked for when a neighbour is analysed.
 */
#include "code/decode/facts.h"

#include <emmintrin.h>
#include <string.h>

#include "code/function/function.h"
#include "code/decode/memo.h"

/* A neighbour's start so far away is worth remembering how its instructions go. */
#define FAR 1024

/* A walk over the instructions of one symbol, that is continued while it goes forward. */
struct walk {
	struct ki_memo *memo; /* NULL: none */
	const uint8_t *text;
	size_t len;
	uint64_t base; /* the text's address */
	uint64_t symbol;
	size_t pos;
	bool valid;
};

struct scan {
	struct ki_target *t;
	struct ki_facts *f;
	const struct ki_text_range *range;
	uint8_t *text;
	size_t len;
	uint8_t *starts; /* bit n: a symbol starts at byte n of the range */
	size_t next;	 /* number of the first symbol behind `addr` */
	uint64_t own, own_end;
	struct walk walk;
};

static void decode(struct ki_memo *memo, const uint8_t *p, size_t avail, uint64_t addr,
		   struct ki_decoded *d)
{
	if (memo)
		ki_memo_decode(memo, p, avail, addr, d);
	else
		ki_decode(p, avail, addr, d);
}

/* Walk to the instruction, *d, that `pos` lies in. */
static void walk_to(struct walk *w, size_t pos, struct ki_decoded *d)
{
	for (;;) {
		decode(w->memo, w->text + w->pos, w->len - w->pos, w->base + w->pos, d);
		if (w->pos + d->in.len > pos)
			return;
		w->pos += d->in.len;
	}
}

/*
 * Is the byte before `field` the last one of the opcode of a direct branch or call of the symbol
 * that starts at `from`, and `field` its displacement, up to `end`?
 */
static bool is_branch(struct walk *w, size_t from, size_t field, size_t end)
{
	struct ki_decoded d;

	if (end > w->len)
		return false;
	if (!w->valid || w->symbol != from || w->pos > field) {
		w->symbol = w->pos = from;
		w->valid = true;
	}
	walk_to(w, field, &d);
	return w->pos + d.in.len == end && w->pos + d.in.field == field &&
	       (d.in.kind == KI_INSN_JMP || d.in.kind == KI_INSN_JCC || d.in.kind == KI_INSN_CALL ||
		d.in.kind == KI_INSN_LOOP);
}

/* The symbol that addr lies in: [own, own_end). Addresses only grow. */
static void move_to(struct scan *s, uint64_t addr)
{
	const struct ki_symbol *sym = s->t->symbols;

	if (addr < s->own_end)
		return;
	while (s->next < s->t->nsymbols && sym[s->next].addr <= addr)
		s->own = sym[s->next++].addr;
	s->own_end = s->next < s->t->nsymbols ? sym[s->next].addr : UINT64_MAX;
	if (s->own_end > s->range->end)
		s->own_end = s->range->end;
}

/* Does something start at target, or is nothing known to be there? */
static bool harmless(const struct scan *s, uint64_t target)
{
	uint64_t off = target - s->range->start;
	const struct ki_symbol *sym;

	if (off < s->len)
		return s->starts[off / 8] >> (off % 8) & 1;
	sym = ki_target_symbol_at(s->t, target);
	return !sym || sym->addr == target;
}

static int candidate(struct scan *s, size_t pos)
{
	size_t end = pos + (s->text[pos] == 0x0f ? 6 : 5);
	uint64_t base = s->range->start, target;
	int32_t rel;

	if (end > s->len)
		return 0;
	memcpy(&rel, s->text + end - 4, 4);
	target = base + end + (uint64_t)(int64_t)rel;
	move_to(s, base + pos);
	if (target >= s->own && target < s->own_end)
		return 0;
	if (harmless(s, target))
		return 0;
	s->walk.text = s->text;
	s->walk.base = base;
	s->walk.len = s->own_end - base;
	if (!is_branch(&s->walk, s->own - base, end - 4, end))
		return 0;
	return ki_vec_push(&s->f->entries, target);
}

static int scan_tail(struct scan *s, size_t pos)
{
	for (; pos + 5 <= s->len; pos++) {
		uint8_t b = s->text[pos];
		int ret;

		if ((b & 0xfe) != 0xe8 && !(b == 0x0f && (s->text[pos + 1] & 0xf0) == 0x80))
			continue;
		ret = candidate(s, pos);
		if (ret)
			return ret;
	}
	return 0;
}

/* Sixteen bytes at a time: e8 and e9, and 0f before 8x. */
static int scan_text(struct scan *s)
{
	const __m128i fe = _mm_set1_epi8((char)0xfe), e8 = _mm_set1_epi8((char)0xe8);
	const __m128i f0 = _mm_set1_epi8((char)0xf0), x80 = _mm_set1_epi8((char)0x80);
	const __m128i x0f = _mm_set1_epi8(0x0f);
	size_t pos;

	for (pos = 0; pos + 17 <= s->len; pos += 16) {
		__m128i a = _mm_loadu_si128((const __m128i *)(const void *)(s->text + pos));
		__m128i b = _mm_loadu_si128((const __m128i *)(const void *)(s->text + pos + 1));
		__m128i near = _mm_cmpeq_epi8(_mm_and_si128(a, fe), e8);
		__m128i jcc = _mm_and_si128(_mm_cmpeq_epi8(a, x0f),
					    _mm_cmpeq_epi8(_mm_and_si128(b, f0), x80));
		unsigned int hits = (unsigned int)_mm_movemask_epi8(_mm_or_si128(near, jcc));

		for (; hits; hits &= hits - 1) {
			int ret = candidate(s, pos + (size_t)__builtin_ctz(hits));

			if (ret)
				return ret;
		}
	}
	return scan_tail(s, pos);
}

static void mark_starts(struct scan *s)
{
	const struct ki_symbol *sym = s->t->symbols;

	s->next = s->range->start ? ki_target_symbol_after(s->t, s->range->start - 1) : 0;
	for (size_t i = s->next; i < s->t->nsymbols && sym[i].addr < s->range->end; i++) {
		uint64_t off = sym[i].addr - s->range->start;

		s->starts[off / 8] |= (uint8_t)(1 << off % 8);
	}
	s->own = s->range->start;
	s->own_end = s->own;
	s->walk.valid = false;
}

static int scan_range(struct ki_target *t, struct ki_facts *f, const struct ki_text_range *r,
		      struct ki_memo *memo, struct ki_err *err)
{
	struct scan s = {
		.t = t, .f = f, .range = r, .len = r->end - r->start, .walk = {.memo = memo}};
	int ret;

	s.text = malloc(s.len);
	s.starts = calloc(s.len / 8 + 1, 1);
	if (!s.text || !s.starts) {
		ret = ki_err_set(err, -ENOMEM, r->start, "out of memory for the text");
		goto out;
	}
	ret = ki_target_read(t, r->start, s.text, s.len, KI_VIEW_ORIG, *r->module ? NULL : err);
	if (ret) {
		/* A module may have gone meanwhile; its functions cannot be read either. */
		if (*r->module)
			ret = 0;
		goto out;
	}
	mark_starts(&s);
	ret = scan_text(&s);
	if (ret)
		ki_err_set(err, ret, r->start, "out of memory for the entries");
out:
	free(s.text);
	free(s.starts);
	return ret;
}

/* Static branches and exception fixups that lead into another symbol. */
static int scan_rows(struct ki_target *t, struct ki_facts *f, struct ki_err *err)
{
	const struct ki_reserved_row *rows;
	size_t count;
	int ret = ki_target_reserved(t, 0, UINT64_MAX, &rows, &count, err);

	for (size_t i = 0; !ret && i < count; i++) {
		const struct ki_symbol *to;

		if (rows[i].reason != KI_R_JUMP_LABEL && rows[i].reason != KI_R_EXTABLE)
			continue;
		to = ki_target_symbol_at(t, rows[i].target);
		if (!to || to->addr == rows[i].target || rows[i].addr - to->addr < to->size)
			continue;
		ret = ki_vec_push(&f->entries, rows[i].target);
		if (ret)
			ki_err_set(err, ret, 0, "out of memory for the entries");
	}
	return ret;
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* What one range has taught of instructions serves the next: there may be 70,000 of them. */
static int scan_ranges(struct ki_target *t, struct ki_facts *f, struct ki_err *err)
{
	struct ki_memo *memo;
	int ret = ki_memo_new(&memo);

	if (ret)
		return ki_err_set(err, ret, 0, "out of memory for the text");
	for (size_t i = 0; !ret && i < t->ranges.n; i++) {
		const struct ki_text_range *r = &t->ranges.v[i];

		/* The driver's patches jump back into what they were made for. */
		if (t->kind == KI_TARGET_LIVE && strcmp(r->module, "kerninst") == 0)
			continue;
		ret = scan_range(t, f, r, memo, err);
	}
	ki_memo_free(memo);
	return ret;
}

int ki_entries_scan(struct ki_target *t, struct ki_facts *f, struct ki_err *err)
{
	size_t n = 0;
	int ret = scan_rows(t, f, err);

	if (!ret)
		ret = scan_ranges(t, f, err);
	if (ret || !f->entries.n)
		return ret;
	qsort(f->entries.v, f->entries.n, sizeof(*f->entries.v), by_value);
	for (size_t i = 0; i < f->entries.n; i++)
		if (!n || f->entries.v[n - 1] != f->entries.v[i])
			f->entries.v[n++] = f->entries.v[i];
	f->entries.n = n;
	return 0;
}

void ki_analysis_entry(struct ki_analysis *a, uint64_t addr)
{
	ki_analysis_leader(a, addr);
	a->extra[ki_function_covering(a->fn, addr)].entered = true;
}

/* The code of a neighbour: its symbol, or what stands before the first one of the range. */
struct neighbour {
	uint64_t from, to;
	const uint8_t *text; /* NULL: it cannot be read */
	uint8_t *copy;
	struct walk walk; /* symbol: 0 */
};

/*
 * Its instructions are known from its start on, which may be far. Functions that follow each
 * other have the same one before them: where the walk came to `lo` is remembered.
 */
static void walk_near(struct ki_analysis *a, struct neighbour *n, uint64_t lo)
{
	uint64_t near = lo > n->from ? lo - n->from : 0;
	struct ki_decoded d;

	n->walk = (struct walk){.memo = a->memo,
				.text = n->text,
				.len = n->to - n->from,
				.base = n->from,
				.valid = true};
	if (a->near.symbol == n->from && a->near.pos <= near)
		n->walk.pos = a->near.pos;
	walk_to(&n->walk, near, &d);
	if (near >= FAR)
		a->near = (struct ki_near){n->from, n->walk.pos};
}

static void enter(struct ki_analysis *a, struct neighbour *n, uint64_t addr, uint64_t lo,
		  uint64_t hi)
{
	const struct ki_symbol *sym = ki_target_symbol_at(a->target, addr);
	const struct ki_text_range *r = ki_target_range_at(a->target, addr);
	size_t avail;

	free(n->copy);
	*n = (struct neighbour){.from = sym ? sym->addr : r->start,
				.to = sym ? sym->addr + sym->size : r->end};
	/* What begins before hi ends before this. */
	if (n->to > hi && n->to - hi > 16)
		n->to = hi + 16;
	if (a->text) {
		n->text = ki_text_at(a->text, n->from, &avail);
	} else {
		n->copy = malloc(n->to - n->from);
		if (n->copy && !ki_target_read(a->target, n->from, n->copy, n->to - n->from,
					       KI_VIEW_ORIG, NULL))
			n->text = n->copy;
	}
	if (n->text)
		walk_near(a, n, lo);
}

/* The short branch at addr is an instruction of the neighbour, or that cannot be excluded. */
static bool short_branch(struct neighbour *n, uint64_t addr)
{
	return !n->text || is_branch(&n->walk, 0, addr + 1 - n->from, addr + 2 - n->from);
}

static bool short_opcode(uint8_t b)
{
	return (b & 0xf0) == 0x70 || b == 0xeb || (b & 0xfc) == 0xe0;
}

void ki_entries_near(struct ki_analysis *a, const uint8_t *text, uint64_t lo, uint64_t hi)
{
	uint64_t start = a->fn->start, end = a->fn->end;
	struct neighbour n = {0};

	for (uint64_t addr = lo; hi - addr >= 2; addr++) {
		uint64_t target;

		if (addr + 2 > start && addr < end) {
			addr = end - 1;
			continue;
		}
		if (!short_opcode(text[addr - lo]))
			continue;
		target = addr + 2 + (uint64_t)(int64_t)(int8_t)text[addr - lo + 1];
		if (target <= start || target >= end)
			continue;
		if (addr < n.from || addr >= n.to)
			enter(a, &n, addr, lo, hi);
		if (short_branch(&n, addr))
			ki_analysis_entry(a, target);
	}
	free(n.copy);
}
