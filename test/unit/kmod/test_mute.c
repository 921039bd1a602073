// SPDX-License-Identifier: GPL-2.0-only
/*
 * Muting (kmod/change/mute.c, compiled in here): random patches are made of chunks of all lengths
 * and of replacements, random ones of them die, and what is left is executed, on this processor:
 * those that live have run once each and in order, nothing of the dead ones has, and control goes
 * to the last replacement that lives, or to what stands after. While the swap is being made a CPU
 * that meets the breakpoint is sent to where the new code leads.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "kernel_types.h"

/* ---- the kernel ---- */

#define KI_CHARGE_H
#define min_t(type, a, b) ((type)(a) < (type)(b) ? (type)(a) : (type)(b))

#include <linux/list.h>

static inline void list_move_tail(struct list_head *e, struct list_head *h)
{
	list_del(e);
	list_add_tail(e, h);
}

static inline long schedule_timeout_uninterruptible(long ticks)
{
	return ticks;
}

struct ki_piece;
struct ki_group;
struct ki_account;
void ki_charge_end(struct ki_piece *p);
void ki_charge_group(struct ki_group *g, struct ki_account *asker);

#include "../../../kmod/change/mute.c"

static u32 retired, uncharged;

void ki_charge_end(struct ki_piece *p)
{
	uncharged += p->account != NULL;
}

void ki_charge_group(struct ki_group *g, struct ki_account *asker)
{
	(void)g;
	(void)asker;
}

void ki_piece_retire(struct ki_piece *p)
{
	(void)p;
	retired++;
}

bool ki_direct_leads(const struct ki_piece *p)
{
	(void)p;
	return false;
}

void ki_long_free(struct ki_long_code *c)
{
	(void)c;
}

void ki_probes_hold(void)
{
}

void ki_probes_release(void)
{
}

int ki_group_find(const struct ki_group *g, unsigned long addr)
{
	(void)g;
	(void)addr;
	return -1;
}

void ki_win_copy(const struct ki_win *w, u8 insn, struct ki_copy *out)
{
	(void)w;
	(void)insn;
	*out = (struct ki_copy){.nfix = 1};
}

/* ---- a patch ---- */

#define PIECES	    24
#define COUNT_LEN   7 /* incb at(%rip), and a byte of nop */
#define BEHIND	    100
#define REPLACEMENT 101 /* the first of them */
#define PATCH	    (1 << 16)

static u8 *code; /* the patch, the replacements after it, and what they count in */
static u8 *ran;
static bool once = true; /* the first swap finds no memory */

/* What stands there counts that it has run. */
static void put_count(u32 at, u32 n)
{
	s32 rel = (s32)(ran + n - (code + at + 6));

	code[at] = 0xfe;
	code[at + 1] = 0x05;
	memcpy(code + at + 2, &rel, sizeof(rel));
	code[at + 6] = KI_NOP;
}

static void put_jump(u32 at, unsigned long to)
{
	s32 rel = (s32)(to - (unsigned long)(code + at + KI_JMP_LEN));

	code[at] = KI_JMP;
	memcpy(code + at + 1, &rel, sizeof(rel));
}

static unsigned long replacement(u32 i)
{
	return (unsigned long)(code + PATCH + i * 16);
}

int ki_text_swap(struct ki_swap *v, u32 n, u32 *bad)
{
	(void)bad;
	once = !once;
	if (!once)
		return -ENOMEM;
	for (u32 i = 0; i < n; i++) {
		u8 *at = (u8 *)v[i].addr;
		u32 len = v[i].then[0] == KI_NOP ? 1 : v[i].then[0] == KI_JMP_SHORT ? 2 : 5;
		s32 rel = 0;

		assert_memory_equal(at, v[i].now, v[i].len);
		assert_int_equal(len, v[i].len);
		assert_false(v[i].fresh || v[i].trap || v[i].late);
		memcpy(at, v[i].then, v[i].len);
		if (len == 2)
			rel = (int8_t)at[1];
		else if (len == 5)
			memcpy(&rel, at + 1, sizeof(rel));
		assert_true(v[i].via == v[i].addr + len + (s64)rel);
		for (u32 k = 0; k < i; k++)
			assert_true(v[k].addr != v[i].addr);
	}
	return 0;
}

/* ---- the test ---- */

struct rng {
	u64 s;
};

static u32 rng_below(struct rng *r, u32 n)
{
	r->s ^= r->s << 13;
	r->s ^= r->s >> 7;
	r->s ^= r->s << 17;
	return (u32)((r->s >> 16) % n);
}

struct world {
	struct ki_group *g;
	struct ki_win w;
	struct ki_session s[2];
	struct ki_piece *p[PIECES];
	u32 n;
};

static u32 random_len(struct rng *r)
{
	static const u32 lens[] = {COUNT_LEN, 128, 129, 130, 131, 300};

	return lens[rng_below(r, 6)];
}

/* What dies is what must not run: anything. */
static u32 dead_len(struct rng *r)
{
	return rng_below(r, 3) ? random_len(r) : 1 + rng_below(r, 6);
}

static struct ki_piece *add_piece(struct world *w, struct rng *r, u8 kind)
{
	struct ki_piece *p = calloc(1, sizeof(*p));
	u32 owner = rng_below(r, 2);

	assert_ptr_not_equal(p, NULL);
	p->win = &w->w;
	p->seq = w->n;
	p->kind = kind;
	p->dying = owner;
	p->account = (struct ki_account *)p;
	list_add_tail(&p->in_window, &w->w.chunks);
	list_add_tail(&p->in_session, &w->s[owner].pieces);
	w->p[w->n++] = p;
	return p;
}

static u32 make_patch(struct world *w, struct rng *r, struct ki_long_code *longs)
{
	u32 at = 0, chunks = rng_below(r, PIECES - 4), replaced = rng_below(r, 4), last = 0;

	for (u32 i = 0; i < chunks; i++) {
		struct ki_piece *p = add_piece(w, r, KI_CHUNK_CODE);
		u32 len = p->dying ? dead_len(r) : random_len(r);

		p->at = at;
		longs[i].len = len;
		p->more = len > 64 ? &longs[i] : NULL;
		p->len = p->more ? 0 : (u8)len;
		memset(code + at, p->dying ? KI_INT3 : KI_NOP, len);
		if (!p->dying)
			put_count(at, i);
		at += len;
	}
	for (u32 i = 0; i < replaced; i++) {
		struct ki_piece *p = add_piece(w, r, KI_CHUNK_REPLACE);

		p->at = at;
		p->order = (u16)rng_below(r, 2);
		p->target = replacement(i);
		if (!i || p->order >= w->p[last]->order)
			last = w->n - 1;
	}
	if (replaced) {
		put_jump(at, w->p[last]->target);
		at += KI_JMP_LEN;
	}
	put_count(at, BEHIND);
	code[at + COUNT_LEN] = 0xc3;
	return replaced;
}

static void check_run(const struct world *w, u32 replaced)
{
	u32 first = w->n - replaced, leads = BEHIND, order = 0;
	void (*run)(void);

	for (u32 i = first; i < w->n; i++)
		if (!w->p[i]->dying && w->p[i]->order >= order) {
			leads = REPLACEMENT + i - first;
			order = w->p[i]->order;
		}
	memset(ran, 0, 256);
	memcpy(&run, &code, sizeof(run));
	run();
	for (u32 i = 0; i < first; i++)
		assert_int_equal(ran[i], !w->p[i]->dying);
	for (u32 i = BEHIND; i < REPLACEMENT + 4; i++)
		assert_int_equal(ran[i], i == leads);
}

static void check_records(const struct world *w, u32 before)
{
	u32 dead = 0;

	for (u32 i = 0; i < w->n; i++) {
		assert_int_equal(w->p[i]->muted, w->p[i]->dying);
		dead += w->p[i]->muted;
	}
	assert_int_equal(ki_mute_count(), before + dead);
	assert_int_equal(ki_mute_in(w->g), dead);
	assert_true(w->s[1].pieces.next == &w->s[1].pieces);
	assert_int_equal(retired, dead);
	assert_int_equal(uncharged, dead);
}

static void one_patch(struct rng *r)
{
	struct ki_long_code longs[PIECES] = {0};
	struct world w = {.g = calloc(1, sizeof(*w.g) + sizeof(struct ki_win *))};
	u32 replaced, before = ki_mute_count();

	assert_ptr_not_equal(w.g, NULL);
	w.g->n = 1;
	w.g->v[0] = &w.w;
	w.g->patch.addr = (unsigned long)code;
	w.w.group = w.g;
	INIT_LIST_HEAD(&w.w.chunks);
	INIT_LIST_HEAD(&w.s[0].pieces);
	INIT_LIST_HEAD(&w.s[1].pieces);
	retired = uncharged = 0;
	replaced = make_patch(&w, r, longs);
	ki_mute(&w.s[1]);
	check_run(&w, replaced);
	check_records(&w, before);
	for (u32 i = 0; i < w.n; i++) {
		ki_mute_forget(w.p[i]);
		list_del(&w.p[i]->in_session);
		free(w.p[i]);
	}
	assert_int_equal(ki_mute_count(), before);
	free(w.g);
}

static void random_patches(void **state)
{
	struct rng r = {.s = 0x9e3779b97f4a7c15ull};

	(void)state;
	for (int i = 0; i < 20000; i++)
		one_patch(&r);
}

static int make_code(void **state)
{
	(void)state;
	code = mmap(NULL, 2 * PATCH, PROT_READ | PROT_WRITE | PROT_EXEC,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (code == MAP_FAILED)
		return -1;
	ran = code + PATCH + 4096;
	for (u32 i = 0; i < 4; i++) {
		put_count(PATCH + i * 16, REPLACEMENT + i);
		code[PATCH + i * 16 + COUNT_LEN] = 0xc3;
	}
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_patches),
	};

	return cmocka_run_group_tests(tests, make_code, NULL);
}
