/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Entries into the middle of functions from the code of other symbols: cold parts jump back
 * into their parents, assembly into whatever it likes.
 *
 * The whole text is scanned bytewise, once, for what could be a call, jmp or jcc with a 32-bit
 * displacement. Few of the candidates lead out of their own symbol to somewhere else than the
 * start of another; those are kept. Whether one is an instruction is known after its own symbol has
 * been decoded up to it, which is done for those that lead into the function that is analysed; or
 * for all of them, when many functions are.
 */
#include "code/decode/facts.h"

#include <emmintrin.h>
#include <string.h>

#include "code/decode/memo.h"
#include "code/function/function.h"
#include "code/function/trail.h"
#include "util/search.h"

#define LONGEST 6		       /* bytes of a branch */
#define CHUNK	(64u * 1024 - LONGEST) /* of a range; with a branch that is cut, read at once */
#define BEHIND	32		       /* bytes after a chunk that the scan looks at */

struct scan {
	struct ki_target *t;
	struct ki_facts *f;
	const struct ki_text_range *range;
	uint8_t *text; /* of a chunk, and what is after it */
	uint64_t at;   /* the chunk's address */
	size_t len;    /* of the text */
	uint64_t low, high;
	uint8_t *starts; /* bit n: a symbol starts at byte n of the range */
	size_t next;	 /* number of the first symbol after `own` */
	uint64_t own, own_end;
};

/* ---- candidates ---- */

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

	if (off < s->range->end - s->range->start)
		return s->starts[off / 8] >> (off % 8) & 1;
	if (target < s->low || target >= s->high)
		return true;
	sym = ki_target_symbol_at(s->t, target);
	return !sym || sym->addr == target;
}

/* 0f is what jcc begins with, and much else. */
static int candidate(struct scan *s, size_t pos)
{
	const uint8_t *p = s->text + pos;
	size_t len = *p == 0x0f ? 6 : 5;
	uint64_t target;
	int32_t rel;

	if (len == 6 && (p[1] & 0xf0) != 0x80)
		return 0;
	memcpy(&rel, p + len - 4, 4);
	target = s->at + pos + len + (uint64_t)(int64_t)rel;
	if (harmless(s, target) || pos + len > s->len)
		return 0;
	move_to(s, s->at + pos);
	if (target >= s->own && target < s->own_end)
		return 0;
	return ki_vec_push(&s->f->branches, (struct ki_sort_item){target, s->at + pos + len - 4});
}

/* ---- the text ---- */

/* Which of 16 bytes are e8, e9 or 0f? */
static unsigned int opcodes(const uint8_t *p)
{
	__m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
	__m128i near = _mm_cmpeq_epi8(_mm_and_si128(v, _mm_set1_epi8((char)0xfe)),
				      _mm_set1_epi8((char)0xe8));
	__m128i two = _mm_cmpeq_epi8(v, _mm_set1_epi8(0x0f));

	return (unsigned int)_mm_movemask_epi8(_mm_or_si128(near, two));
}

/* The branches that begin in the first `len` bytes. There are zeros after the text. */
static int scan_chunk(struct scan *s, size_t len)
{
	for (size_t pos = 0; pos < len; pos += 32) {
		uint32_t hits = opcodes(s->text + pos) | opcodes(s->text + pos + 16) << 16;

		for (; hits; hits &= hits - 1) {
			size_t hit = pos + (size_t)__builtin_ctz(hits);
			int ret = hit < len ? candidate(s, hit) : 0;

			if (ret)
				return ret;
		}
	}
	return 0;
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
}

static int scan_range(struct scan *s, const struct ki_text_range *r, struct ki_err *err)
{
	int ret = 0;

	s->range = r;
	s->starts = calloc((r->end - r->start) / 8 + 1, 1);
	if (!s->starts)
		return ki_err_set(err, -ENOMEM, r->start, "out of memory for the text");
	mark_starts(s);
	for (s->at = r->start; !ret && s->at < r->end; s->at += CHUNK) {
		const uint64_t left = r->end - s->at;

		s->len = left < CHUNK + LONGEST ? left : CHUNK + LONGEST;
		ret = ki_target_read(s->t, s->at, s->text, s->len, KI_VIEW_ORIG,
				     *r->module ? NULL : err);
		if (ret)
			break;
		memset(s->text + s->len, 0, BEHIND);
		ret = scan_chunk(s, left < CHUNK ? left : CHUNK);
		if (ret)
			ki_err_set(err, ret, r->start, "out of memory for the entries");
	}
	free(s->starts);
	/* A module may have gone meanwhile; its functions cannot be read either. */
	return *r->module && ret != -ENOMEM ? 0 : ret;
}

static int scan_ranges(struct ki_target *t, struct ki_facts *f, struct ki_err *err)
{
	struct scan s = {.t = t, .f = f, .text = malloc(CHUNK + LONGEST + BEHIND)};
	int ret = 0;

	if (!s.text)
		return ki_err_set(err, -ENOMEM, 0, "out of memory for the text");
	if (t->ranges.n) {
		s.low = t->ranges.v[0].start;
		s.high = t->ranges.v[t->ranges.n - 1].end;
	}
	for (size_t i = 0; !ret && i < t->ranges.n; i++) {
		const struct ki_text_range *r = &t->ranges.v[i];

		/* The driver's patches jump back into what they were made for. */
		if (t->kind == KI_TARGET_LIVE && strcmp(r->module, "kerninst") == 0)
			continue;
		ret = scan_range(&s, r, err);
	}
	free(s.text);
	return ret;
}

/* ---- rows ---- */

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

static void order(struct ki_facts *f)
{
	size_t n = 0;

	if (!f->entries.n)
		return;
	qsort(f->entries.v, f->entries.n, sizeof(*f->entries.v), by_value);
	for (size_t i = 0; i < f->entries.n; i++)
		if (!n || f->entries.v[n - 1] != f->entries.v[i])
			f->entries.v[n++] = f->entries.v[i];
	f->entries.n = n;
}

int ki_entries_scan(struct ki_target *t, struct ki_facts *f, struct ki_err *err)
{
	int ret = scan_rows(t, f, err);

	if (!ret)
		ret = scan_ranges(t, f, err);
	if (ret)
		return ret;
	order(f);
	if (f->branches.n && ki_sort(f->branches.v, f->branches.n))
		return ki_err_set(err, -ENOMEM, 0, "out of memory for the entries");
	return 0;
}

/* ---- which of the candidates are branches ---- */

static bool is_branch(struct ki_trail *w, uint64_t field)
{
	return ki_trail_is_branch(w, field, field + 4);
}

/* Each symbol is entered once, if they come in the order in which they stand in the text. */
static int complete(struct ki_facts *f, const struct ki_sort_item *by_field, struct ki_trail *w)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < f->branches.n; i++) {
		const uint64_t field = by_field[i].key;

		if (!ki_trail_holds(w, field - 1))
			ki_trail_enter(w, field - 1, UINT64_MAX);
		if (is_branch(w, field))
			ret = ki_vec_push(&f->entries, by_field[i].value);
	}
	return ret;
}

int ki_entries_complete(struct ki_target *t, struct ki_facts *f, const struct ki_text *text,
			struct ki_memo *memo)
{
	struct ki_trail w = {.target = t, .text = text, .memo = memo};
	const size_t before = f->entries.n, n = f->branches.n;
	struct ki_sort_item *by_field = malloc((n + 1) * sizeof(*by_field));
	int ret = by_field ? 0 : -ENOMEM;

	for (size_t i = 0; !ret && i < n; i++)
		by_field[i] = (struct ki_sort_item){f->branches.v[i].value, f->branches.v[i].key};
	if (!ret && n)
		ret = ki_sort(by_field, n);
	if (!ret)
		ret = complete(f, by_field, &w);
	ki_trail_leave(&w);
	free(by_field);
	if (ret) {
		f->entries.n = before;
		return ret;
	}
	ki_vec_free(&f->branches);
	order(f);
	return 0;
}

void ki_analysis_entry(struct ki_analysis *a, uint64_t addr)
{
	ki_analysis_leader(a, addr);
	a->extra[ki_function_covering(a->fn, addr)].entered = true;
}

/* Number of the first branch to addr or after it. */
static size_t branch_from(const struct ki_facts *f, uint64_t addr)
{
	return KI_FIRST(i, f->branches.n, f->branches.v[i].key >= addr);
}

void ki_entries_far(struct ki_analysis *a)
{
	const struct ki_facts *f = a->facts;
	struct ki_trail w = {.target = a->target, .text = a->text, .memo = a->memo};
	size_t n;
	const uint64_t *entries = ki_facts_entries(f, a->fn->start, a->fn->end, &n);

	for (size_t i = 0; i < n; i++)
		ki_analysis_entry(a, entries[i]);
	for (size_t i = branch_from(f, a->fn->start + 1);
	     i < f->branches.n && f->branches.v[i].key < a->fn->end; i++) {
		const struct ki_sort_item *b = &f->branches.v[i];

		ki_trail_enter(&w, b->value - 1, b->value);
		if (is_branch(&w, b->value))
			ki_analysis_entry(a, b->key);
	}
	ki_trail_leave(&w);
}
