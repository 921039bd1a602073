/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Writing the text of a stopped process.
 *
 * A springboard covers instructions at which a thread may be, or to which it comes back. Where it
 * is, its registers say: it is led to the same instruction in the patch. It comes back by a return
 * (but a call ends a window, so return addresses are never inside), or from a signal: the kernel
 * has put its registers on the stack. So the stack is searched for words that are addresses inside
 * of springboards; what is found may be a number by chance, and then it is a refusal too many.
 *
 * Not seen: a frame of a signal that has been interrupted by another one with a stack of its own.
 */
#include <errno.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "process/linked.h"
#include "process/stop.h"
#include "splice/plan.h"
#include "target/process.h"
#include "util/search.h"

#define STACK_PIECE (64u << 10)
#define STACK_MOST  (1u << 20)
#define JMP_LEN	    5

static int changed(struct ki_err *err, uint64_t addr)
{
	return ki_err_reason(err, KI_R_BYTES_CHANGED, addr, "0x%llx", (unsigned long long)addr);
}

/*
 * The text, page by page: who goes through it in order of address reads and writes each page once,
 * so the threads are not held for two system calls for each place.
 */
struct page {
	int mem;
	uint64_t base; /* 0: none */
	bool dirty;
	uint8_t bytes[KI_PAGE];
};

static int poke(int mem, uint64_t addr, const uint8_t *bytes, size_t len)
{
	ssize_t n;

	do
		n = pwrite(mem, bytes, len, (off_t)addr);
	while (n < 0 && errno == EINTR);
	if (n == (ssize_t)len)
		return 0;
	return n < 0 ? -errno : -EFAULT;
}

static int page_flush(struct page *p)
{
	bool dirty = p->dirty;

	p->dirty = false;
	return dirty ? poke(p->mem, p->base, p->bytes, KI_PAGE) : 0;
}

/* The byte at addr; NULL: *error says why not. */
static uint8_t *page_at(struct page *p, uint64_t addr, int *error)
{
	uint64_t base = addr & ~(KI_PAGE - 1);

	if (base != p->base) {
		*error = page_flush(p);
		p->base = 0;
		if (!*error)
			*error = ki_process_peek(p->mem, base, p->bytes, KI_PAGE);
		if (*error)
			return NULL;
		p->base = base;
	}
	return &p->bytes[addr - base];
}

/* 0; -ESTALE: something else stands there; or another error. */
static int compare(struct page *p, uint64_t addr, const uint8_t *expected, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		int error;
		const uint8_t *b = page_at(p, addr + i, &error);

		if (!b)
			return error;
		if (*b != expected[i])
			return -ESTALE;
	}
	return 0;
}

static int put(struct page *p, uint64_t addr, const uint8_t *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		int error;
		uint8_t *b = page_at(p, addr + i, &error);

		if (!b)
			return error;
		*b = bytes[i];
		p->dirty = true;
	}
	return 0;
}

static int check(struct page *p, uint64_t addr, const uint8_t *expected, size_t len,
		 struct ki_err *err)
{
	int ret = compare(p, addr, expected, len);

	if (ret == -ESRCH)
		return ki_err_set(err, ret, addr, "the process has ended, or is another program");
	return ret ? changed(err, addr) : 0;
}

/* A window's springboard is at its beginning. */
static bool is_of(const struct ki_linked *x, const struct ki_part *part, const struct ki_window *w)
{
	return !part ||
	       ((w->board == KI_BOARD_BOUNCE) == part->boards &&
		w->addr >= x->edits.v[part->from].addr && w->addr <= x->edits.v[part->to - 1].addr);
}

int ki_text_check(const struct ki_linked *x, int mem, const struct ki_part *part,
		  struct ki_err *err)
{
	struct page p = {.mem = mem};
	int ret = 0;

	for (size_t i = 0; !ret && i < x->order.n; i++) {
		const struct ki_window *w = &x->plan->windows.v[x->order.v[i]];

		/* Under a breakpoint the driver compares the first byte. */
		const unsigned int from = w->board == KI_BOARD_TRAP;

		if (is_of(x, part, w))
			ret = check(&p, w->addr + from, w->orig + from, w->len - from, err);
	}
	/* Springboards are in their windows. */
	for (size_t i = 0; !ret && i < x->edits.n; i++)
		if (x->edits.v[i].bounce && (!part || ki_part_has(x, part, i)))
			ret = check(&p, x->edits.v[i].addr, x->edits.v[i].orig, x->edits.v[i].len,
				    err);
	return ret;
}

static bool is_forbidden(const struct ki_linked *x, uint64_t addr)
{
	const size_t n = x->forbidden.n;
	size_t lo;

	/* Of the words of stacks hardly one is more. */
	if (!n || addr < x->forbidden.v[0] || addr > x->forbidden.v[n - 1])
		return false;
	lo = KI_FIRST(i, n, x->forbidden.v[i] >= addr);
	return lo < n && x->forbidden.v[lo] == addr;
}

/* A bounce that stands at addr; NULL. */
static const struct ki_edit *bounce_at(const struct ki_linked *x, uint64_t addr)
{
	if (!is_forbidden(x, addr))
		return NULL;
	for (size_t i = 0; i < x->edits.n; i++)
		if (x->edits.v[i].bounce && x->edits.v[i].addr == addr &&
		    (!x->released || x->released[i] != KI_RELEASED))
			return &x->edits.v[i];
	return NULL;
}

static bool is_in_patch(const struct ki_linked *x, uint64_t addr)
{
	for (size_t i = 0; i < x->arenas.n; i++) {
		const struct ki_arena *a = &x->arenas.v[i];

		if (addr - a->base < x->counters_len + a->len)
			return true;
	}
	return false;
}

static bool is_inside(const struct ki_linked *x, uint64_t addr)
{
	return is_forbidden(x, addr) && ki_linked_place(x, addr);
}

static bool is_bounce(const struct ki_linked *x, uint64_t addr)
{
	return bounce_at(x, addr) != NULL;
}

/* Its end is where it cannot be read further; of a thread of the C library what it has there, to
   which the FS base points. */
static size_t stack_len(const struct ki_thread *t, uint64_t at)
{
	const uint64_t len = t->regs.fs_base - at;

	return len && len < STACK_MOST ? (len + 7) & ~7ull : STACK_MOST;
}

/* Does a word on the thread's stack say so? */
static bool on_stack(const struct ki_linked *x, const struct ki_stop *s, const struct ki_thread *t,
		     bool (*is)(const struct ki_linked *, uint64_t))
{
	static uint64_t words[STACK_PIECE / 8];
	uint64_t at = t->regs.rsp & ~7ull;

	for (size_t left = stack_len(t, at), len; left; left -= len) {
		struct iovec to = {words, 0}, from = {(void *)(uintptr_t)at, 0};
		ssize_t n;

		len = to.iov_len = from.iov_len = left < STACK_PIECE ? left : STACK_PIECE;
		n = process_vm_readv(s->pid, &to, 1, &from, 1, 0);
		for (ssize_t i = 0; i < n / 8; i++)
			if (is(x, words[i]))
				return true;
		if (n < (ssize_t)len)
			break;
		at += len;
	}
	return false;
}

static int busy(struct ki_err *err, const struct ki_stop *s, const struct ki_thread *t)
{
	return ki_err_reason(err, KI_R_PROCESS_BUSY, t->regs.rip, "process %d, thread %d", s->pid,
			     t->tid);
}

int ki_threads_clear(const struct ki_linked *x, struct ki_stop *s, uint32_t *moved,
		     struct ki_err *err)
{
	for (size_t i = 0; i < s->threads.n; i++) {
		struct ki_thread *t = &s->threads.v[i];
		uint64_t to;

		if (on_stack(x, s, t, is_inside))
			return busy(err, s, t);
		if (!is_forbidden(x, t->regs.rip))
			continue;
		to = ki_linked_place(x, t->regs.rip);
		if (!to)
			return busy(err, s, t);
		t->regs.rip = to;
		t->changed = true;
		++*moved;
	}
	return 0;
}

static uint64_t jump_target(const struct ki_edit *e)
{
	int32_t field;

	memcpy(&field, e->now + 1, sizeof(field));
	return e->addr + JMP_LEN + (uint64_t)(int64_t)field;
}

int ki_threads_clear_bounces(const struct ki_linked *x, struct ki_stop *s, struct ki_err *err)
{
	for (size_t i = 0; i < s->threads.n; i++) {
		struct ki_thread *t = &s->threads.v[i];
		const struct ki_edit *e = bounce_at(x, t->regs.rip);

		if (on_stack(x, s, t, is_bounce))
			return busy(err, s, t);
		if (!e)
			continue;
		t->regs.rip = jump_target(e);
		t->changed = true;
	}
	return 0;
}

int ki_text_write(const struct ki_linked *x, int mem, const struct ki_part *part,
		  struct ki_err *err)
{
	struct page p = {.mem = mem};
	uint64_t addr = 0;
	int ret = 0;

	for (size_t i = part->from; !ret && i < part->to; i++) {
		if (!ki_part_has(x, part, i))
			continue;
		addr = x->edits.v[i].addr;
		ret = put(&p, addr, x->edits.v[i].now, x->edits.v[i].len);
	}
	if (!ret)
		ret = page_flush(&p);
	if (!ret)
		return 0;
	ki_text_restore(x, mem, part, false);
	return ki_err_set(err, ret, addr, "0x%llx cannot be written: %s", (unsigned long long)addr,
			  strerror(-ret));
}

/* A page that is not there any more keeps nobody from the next. */
void ki_text_restore(const struct ki_linked *x, int mem, const struct ki_part *part, bool released)
{
	struct page p = {.mem = mem};

	for (size_t i = part->from; i < part->to; i++) {
		const struct ki_edit *e = &x->edits.v[i];

		if (ki_part_has(x, part, i) && (!released || x->released[i] == KI_TO_RELEASE) &&
		    !compare(&p, e->addr, e->now, e->len))
			put(&p, e->addr, e->orig, e->len);
	}
	page_flush(&p);
}

bool ki_arenas_in_use(const struct ki_linked *x, const struct ki_stop *s)
{
	for (size_t i = 0; i < s->threads.n; i++) {
		const struct ki_thread *t = &s->threads.v[i];

		if (is_in_patch(x, t->regs.rip) || on_stack(x, s, t, is_in_patch))
			return true;
	}
	return false;
}
