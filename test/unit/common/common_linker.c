// SPDX-License-Identifier: GPL-2.0-only
#include "common_linker.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "kernel_types.h"

unsigned long *linker_users, linker_ours, linker_starts[128];
bool linker_alone;
void (*linker_branch)(unsigned long addr, unsigned long *key, bool *off);
unsigned long (*linker_trampoline)(unsigned long addr);

/* ---- the kernel in small ---- */

#define KI_SYMBOLS_H
#define KI_USER_H
#define KI_GFP		       0
#define GFP_KERNEL_ACCOUNT     0
#define ki_call(name)	       name
#define ARRAY_SIZE(a)	       (sizeof(a) / sizeof(*(a)))
#define BUILD_BUG()	       abort()
#define unlikely(x)	       (x)
#define IS_ENABLED(option)     1
#define le32_to_cpu(x)	       (x)
#define le16_to_cpu(x)	       (x)
#define U32_MAX		       UINT32_MAX
#define fallthrough	       __attribute__((fallthrough))
#define GENMASK_ULL(high, low) ((~0ull >> (63 - (high))) & (~0ull << (low)))
#define KI_YIELD_H
#define ki_yield() ((void)0)
#define PAGE_SIZE  4096ul
#define get_unaligned(p)                                                                           \
	({                                                                                         \
		__typeof__(*(p)) got_;                                                             \
		memcpy(&got_, (p), sizeof(got_));                                                  \
		got_;                                                                              \
	})

static void sort(void *v, size_t n, size_t size, int (*compare)(const void *, const void *),
		 void *none)
{
	(void)none;
	qsort(v, n, size, compare);
}

/* the kernel is built without these */
#pragma GCC diagnostic ignored "-Wpragmas"
#pragma GCC diagnostic ignored "-Wcast-qual"
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wpointer-arith"
#pragma GCC diagnostic ignored "-Wundef"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#include "insn.c"
#include "inat.c"

#include "../../../kmod/vet/head.c"
#include "../../../kmod/vet/copy.c"
#include "../../../kmod/patch/link.c"
#include "../../../kmod/patch/lay.c"
#include "../../../kmod/patch/join.c"
#include "../../../kmod/patch/direct.c"
/* each file has names of its own */
#define put_copy patch_put_copy
#define put_jump patch_put_jump
#define is_short patch_is_short
#include "../../../kmod/patch/patch.c"

static struct {
	uint8_t *at;
	uint32_t orcs;
} heap;

static struct ki_block the_block;

int ki_heap_alloc(u32 len, u32 norc, u32 nex, bool reserve, struct ki_block **out)
{
	*out = &the_block;
	heap.orcs = norc;
	return 0;
}

int ki_heap_alloc_large(u32 len, u32 norc, u32 nex, bool paged, struct ki_block **out)
{
	return -ENOSPC;
}

int ki_heap_alloc_filled(const struct ki_filled *as, u32 norc, u32 nex, u32 *pad,
			 struct ki_block **out)
{
	return -ENOSPC;
}

void ki_heap_free(struct ki_block *b)
{
}

unsigned long ki_heap_addr(const struct ki_block *b)
{
	return (unsigned long)heap.at;
}

int ki_text_read(unsigned long addr, void *buf, size_t len, enum ki_view view)
{
	memcpy(buf, (const void *)addr, len);
	return 0;
}

bool ki_probes_alone(unsigned long *list, unsigned long *first)
{
	*list = (unsigned long)linker_users;
	*first = linker_ours;
	return linker_alone;
}

void ki_text_write_heap(unsigned long addr, const void *code, size_t len)
{
	memcpy((void *)addr, code, len);
}

bool ki_fill_wanted(const struct ki_group *g)
{
	return false;
}

u64 ki_moment(void)
{
	return 1;
}

void ki_name_patch(const struct ki_patch *p, const struct ki_group *g)
{
}

void ki_name_drop(const struct ki_patch *p)
{
}

void ki_bugs_drop(unsigned long start, unsigned long end)
{
}

void ki_origin_note(unsigned long at, u32 len, unsigned long addr)
{
}

const struct exception_table_entry *ki_extable_find(struct module *owner, unsigned long addr)
{
	return NULL;
}

unsigned long ki_extable_fixup(const struct exception_table_entry *e)
{
	return 0;
}

bool ki_site_claim(struct ki_site *s, unsigned long addr, u8 len, const u8 *orig)
{
	abort();
}

const struct ki_copy *ki_return_form(void)
{
	static const struct ki_copy ret = {.len = 1, .code = {0xc3}};

	return &ret;
}

s64 ki_counter_disp(u32 n)
{
	return 8 * (s64)n;
}

unsigned long ki_global_addr(u32 n)
{
	abort();
}

unsigned long ki_helper_addr(u32 helper)
{
	abort();
}

s64 ki_self_disp(u64 self)
{
	abort();
}

s64 ki_field_off(u64 field)
{
	abort();
}

/* ---- rows are counted ---- */

void ki_rows_start(struct ki_rows *r)
{
	r->norc = 0;
}

int ki_rows_room(struct ki_rows *r)
{
	return 0;
}

void ki_rows_free(struct ki_rows *r)
{
}

void ki_rows_stack(struct ki_rows *r, u32 off, unsigned long addr, u32 pushed)
{
	r->norc++;
}

void ki_rows_code(struct ki_rows *r, u32 off, unsigned long addr, u32 pushed, u64 words, u32 len)
{
	r->norc++;
}

void ki_rows_depth(struct ki_rows *r, u32 off, unsigned long addr, u32 pushed, const u8 *depth,
		   u32 len)
{
	r->norc++;
}

void ki_rows_copy(struct ki_rows *r, u32 off, unsigned long addr, const u8 *code,
		  unsigned long fixup)
{
}

bool ki_rows_publish(const struct ki_rows *r, const struct ki_block *b, bool reserve)
{
	return true;
}

/* ---- windows (window.c) ---- */

u8 ki_board_len(u8 board)
{
	return board == KI_BOARD_JMP ? KI_JMP_LEN : board == KI_BOARD_BOUNCE ? 2 : 1;
}

unsigned long ki_win_insn(const struct ki_win *w, u8 insn)
{
	unsigned long addr = w->addr;

	while (insn--)
		addr += w->insn_len[insn];
	return addr;
}

void ki_win_copy(const struct ki_win *w, u8 insn, struct ki_copy *out)
{
	unsigned long addr = ki_win_insn(w, insn), at = addr - w->addr;
	u8 flow;

	if (w->branch || w->static_call)
		ki_copy_written(w, out);
	else if (ki_copy_emit(addr, w->orig + at, w->len - at, out, &flow))
		abort();
}

int ki_group_find(const struct ki_group *g, unsigned long addr)
{
	for (u32 i = 0; i < g->n; i++)
		if (g->v[i]->addr == addr)
			return (int)i;
	return -1;
}

/* As the request has it; then w has what the driver finds. */
static void look_at_written(struct ki_win *w, const struct ki_copy *asked, struct ki_copy *c)
{
	w->flow[0] = KI_FLOW_LEAVES | KI_FLOW_DIRECT;
	if (w->branch) {
		w->target = asked->fix[0].target;
		linker_branch(w->addr, &w->key, &w->off);
		ki_copy_written(w, c);
		return;
	}
	ki_copy_written(w, c);
	w->flow[0] |= KI_FLOW_CALL;
	w->target = linker_trampoline(w->addr);
}

static void look_at_copies(struct ki_win *w, const struct ki_copy *copies)
{
	unsigned long at = 0;

	for (u8 i = 0; i < w->ncopy; i++) {
		struct ki_copy c;

		w->insn_len[i] = copies[i].orig_len;
		if (w->branch || w->static_call)
			look_at_written(w, &copies[i], &c);
		else if (ki_copy_emit(w->addr + at, w->orig + at, w->len - at, &c, &w->flow[i]))
			abort();
		if (memcmp(&c, &copies[i], sizeof(c)))
			abort();
		at += c.orig_len;
	}
}

static struct ki_win *new_window(const struct ki_window *req, const struct ki_copy *copies)
{
	struct ki_win *w = calloc(1, sizeof(*w) + req->len + 2 * (size_t)req->ncopy);

	INIT_LIST_HEAD(&w->chunks);
	INIT_LIST_HEAD(&w->more);
	INIT_LIST_HEAD(&w->returns);
	w->addr = req->addr;
	w->len = req->len;
	w->ncopy = req->ncopy;
	w->board = req->board;
	w->boarded = !(req->flags & KI_WINDOW_UNBOARDED);
	w->calls = req->flags & KI_WINDOW_CALL;
	w->branch = req->flags & KI_WINDOW_BRANCH;
	w->static_call = req->flags & KI_WINDOW_STATIC_CALL;
	w->aside = req->flags & KI_WINDOW_ASIDE;
	for (const unsigned long *s = linker_starts; *s; s++)
		if (w->addr == *s || w->addr == *s + KI_JMP_LEN) {
			w->entry = true;
			w->body = (u8)(w->addr - *s);
		}
	memcpy(w->orig, req->orig, req->len);
	w->insn_len = w->orig + req->len;
	w->flow = w->insn_len + req->ncopy;
	look_at_copies(w, copies);
	return w;
}

static void add_piece(struct ki_group *g, const struct ki_chunk *c, u64 seq)
{
	struct ki_piece *p = calloc(1, sizeof(*p) + c->len);

	p->seq = seq;
	p->order = c->order;
	p->insn = c->insn;
	p->where = c->where;
	p->kind = c->kind;
	p->target = c->target;
	p->len = c->len;
	p->nfix = c->nfix;
	memcpy(p->fix, c->fix, sizeof(p->fix));
	memcpy(p->code, c->code, c->len);
	p->win = g->v[c->window];
	list_add_tail(&p->in_window, &p->win->chunks);
}

static void free_group(struct ki_group *g)
{
	struct ki_piece *p, *next;

	for (u32 i = 0; i < g->n; i++) {
		list_for_each_entry_safe (p, next, &g->v[i]->chunks, in_window)
			free(p);
		free(g->v[i]);
	}
	free(g->order);
	free(g);
}

static bool any_calls(const struct ki_group *g)
{
	bool any = false;

	for (u32 i = 0; i < g->n; i++)
		any |= g->v[i]->calls;
	return any;
}

struct linked linker_link(uint8_t *at, const struct ki_window *windows, uint32_t n,
			  const struct ki_copy *copies, const struct ki_chunk *const *chunks,
			  uint32_t nchunks)
{
	struct ki_group *g = calloc(1, sizeof(*g) + n * sizeof(*g->v));
	struct linked out = {.at = calloc(n, sizeof(*out.at))};
	struct ki_direct *direct = calloc(n, sizeof(*direct));
	struct ki_patch patch = {0};
	u16 reason;

	g->n = n;
	g->next_at = out.at;
	g->next_direct = direct;
	for (u32 i = 0; i < n; i++) {
		g->v[i] = new_window(&windows[i], &copies[windows[i].first_copy]);
		g->v[i]->group = g;
		g->v[i]->place = i;
	}
	for (u32 i = 0; i < nchunks; i++)
		add_piece(g, chunks[i], i);
	heap.at = at;
	out.reason = ki_lay_out(g, windows);
	if (!out.reason && ki_patch_build(g, false, &patch, &reason))
		out.reason = reason;
	out.len = patch.len;
	out.calls = patch.calls;
	out.orcs = heap.orcs;
	for (u32 i = 0; i < n && any_calls(g); i++) {
		out.to = out.to ? out.to : calloc(n, sizeof(*out.to));
		out.to[i] = direct[i].up ? 0 : direct[i].to;
	}
	free(direct);
	free_group(g);
	return out;
}
