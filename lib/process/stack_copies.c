// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Threads are stopped one after the other, so each is held only for its own copy, and one that does
 * not stop holds no other. That is done by a thread of ours that ends then. The kernel lets go all
 * that it still traces, so none stays ours that did not stop in time.
 *
 * Who is in a handler with a stack of its own has two stacks. Where the other one is, is known only
 * after the first has been unwound: then it is stopped again.
 */
#include "process/stack_copies.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>

#include "util/search.h"

#define MOST	 (256u << 10)
#define RED_ZONE 128
#define FIRST	 (16u << 10)
#define INSN	 2	     /* bytes of a system call's instruction */
#define GUESS	 (64u << 10) /* of a stack that was not mapped when we looked */

#define PATIENCE       100000000ull /* ns, for one thread */
#define PATIENCE_SHORT 5000000ull   /* if others took that much */
#define PATIENCE_ALL   300000000ull
#define PATIENCE_READY 2000000000ull
#define TRACED_MOST    200 /* naps of 1 ms */

struct taking {
	struct ki_stack_copies *c;
	bool again;
	uint64_t stuck_ns;   /* that we waited for in vain */
	unsigned int traced; /* naps */
	struct ki_err *err;
	int ret;
};

static const struct ki_mapping *mapping_at(const struct ki_stack_copies *c, uint64_t addr)
{
	const size_t n = c->maps.m.n, lo = KI_FIRST(i, n, c->maps.m.v[i].end > addr);

	return lo < n && c->maps.m.v[lo].start <= addr ? &c->maps.m.v[lo] : NULL;
}

/* A stack that is too long ends in its own mapping. */
bool ki_stack_copy_has_other(const struct ki_stack_copies *c, struct ki_stack_copy *x)
{
	const struct ki_mapping *m = x->missed ? mapping_at(c, x->missed) : NULL;

	if (!m || !m->readable || (m == mapping_at(c, x->own.addr) && x->missed > x->own.addr))
		x->missed = 0;
	return x->missed != 0;
}

/* How much is mapped from there on, of at most MOST. */
static size_t mapped_from(const struct ki_stack_copies *c, uint64_t addr)
{
	const struct ki_mapping *m = mapping_at(c, addr);

	if (!m)
		return GUESS;
	return m->end - addr < MOST ? m->end - addr : MOST;
}

/* Where a stack begins whose lowest call has this %rsp. What is below need not be mapped yet. */
static uint64_t first_of(const struct ki_stack_copies *c, uint64_t rsp)
{
	const struct ki_mapping *m = mapping_at(c, rsp);

	return m && rsp - m->start >= RED_ZONE ? rsp - RED_ZONE : rsp;
}

static int reserve(struct ki_stack_part *p, size_t len)
{
	uint8_t *bytes;

	if (len <= p->room)
		return 0;
	bytes = realloc(p->bytes, len);
	if (!bytes)
		return -ENOMEM;
	p->bytes = bytes;
	p->room = len;
	return 0;
}

/* What cannot be read ends it. */
static int copy(const struct ki_stack_copies *c, struct ki_stack_part *p, uint64_t addr)
{
	const size_t len = mapped_from(c, addr);
	struct iovec to = {NULL, len}, from = {(void *)(uintptr_t)addr, len};
	ssize_t n;

	p->len = 0;
	if (reserve(p, len))
		return -ENOMEM;
	to.iov_base = p->bytes;
	n = process_vm_readv(c->process->pid, &to, 1, &from, 1, 0);
	p->addr = addr;
	p->len = n < 0 ? 0 : (uint64_t)n;
	return 0;
}

/* Do we have a system call there? */
static bool is_syscall(const struct ki_stack_copies *c, uint64_t addr)
{
	static const uint8_t syscall_insn[] = {0x0f, 0x05}, int80[] = {0xcd, 0x80};
	uint8_t insn[2];

	return !ki_process_peek(c->process->mem, addr, insn, sizeof(insn)) &&
	       (!memcmp(insn, syscall_insn, sizeof(insn)) || !memcmp(insn, int80, sizeof(insn)));
}

/*
 * Who has begun a handler has the number of the call that it interrupted still. Who has just been
 * let go may be at the instruction, to begin again. After an interruption calls with a limit go on
 * as restart_syscall, where they were: then the number is the one that we have seen there.
 */
static void note_call(const struct ki_stack_copies *c, struct ki_stack_copy *x,
		      const struct user_regs_struct *now)
{
	const int64_t orig = (int64_t)now->orig_rax, next = (int64_t)now->rax;
	const bool in = orig >= 0 && is_syscall(c, now->rip - INSN);
	const bool at = !in && (orig >= 0 || x->found) && is_syscall(c, now->rip);
	const uint64_t after = now->rip + (at ? INSN : 0);
	int64_t old = -1;

	if (x->found && x->after == after && x->regs.rsp == now->rsp)
		old = x->call;
	x->call = -1;
	x->after = after;
	if (in || (at && orig >= 0 && (next == orig || next == SYS_restart_syscall)))
		x->call = orig;
	else if (at && (next == old || next == SYS_restart_syscall))
		x->call = old;
	if (x->call == SYS_restart_syscall && old >= 0)
		x->call = old;
}

/* Where a thread was the last time is kept with it. */
static struct ki_stack_copy *copy_for(struct ki_stack_copies *c, pid_t tid)
{
	struct ki_stack_copy *all, kept;
	size_t at;

	if (c->n == c->all.n && ki_vec_push(&c->all, (struct ki_stack_copy){0}))
		return NULL;
	all = c->all.v;
	/* So that hardly any is made while the thread is held. */
	if (reserve(&all[c->n].own, FIRST))
		return NULL;
	for (at = c->n; at < c->all.n && all[at].tid != tid; at++)
		;
	if (at < c->all.n) {
		kept = all[at];
		all[at] = all[c->n];
		all[c->n] = kept;
	} else {
		all[c->n].found = false;
		all[c->n].tid = tid;
	}
	return &all[c->n++];
}

/* The thread is stopped. */
static int copy_held(const struct taking *k, struct ki_stack_copy *x, struct ki_stop *s)
{
	const struct user_regs_struct regs = s->threads.v[0].regs;
	int ret = copy(k->c, &x->own, first_of(k->c, regs.rsp));

	x->other.len = 0;
	if (!ret && k->again)
		ret = copy(k->c, &x->other, first_of(k->c, x->missed));
	ki_stop_release(s);
	if (!k->again || s->held > x->held_ns)
		x->held_ns = s->held;
	note_call(k->c, x, &regs);
	x->regs = regs;
	x->found = true;
	x->missed = 0;
	return ret ? ki_err_set(k->err, ret, 0, "out of memory for a stack") : 0;
}

static void nap(void)
{
	const struct timespec ts = {.tv_nsec = 1000000};

	nanosleep(&ts, NULL);
}

/* A guard, or another reader, traces for moments only. */
static int stop(struct taking *k, struct ki_stop *s, pid_t tid, struct ki_err *why)
{
	int ret;

	do {
		*s = (struct ki_stop){.pid = k->c->process->pid,
				      .patience_ready = PATIENCE_READY,
				      .patience = k->stuck_ns < PATIENCE_ALL ? PATIENCE
									     : PATIENCE_SHORT};
		ki_err_clear(why);
		ret = ki_stop_thread(s, tid, why);
		if (!ret || why->reason != KI_R_PROCESS_TRACED)
			return ret;
		nap();
	} while (k->traced++ < TRACED_MOST);
	return ret;
}

static int take(struct taking *k, struct ki_stack_copy *x)
{
	struct ki_err why = {0};
	struct ki_stop s;
	int ret = stop(k, &s, x->tid, &why);

	x->stuck = ret && why.reason == KI_R_PROCESS_STUCK;
	if (!ret && s.threads.n)
		return copy_held(k, x, &s);
	x->found = false;
	x->held_ns = 0;
	x->missed = 0;
	if (x->stuck)
		k->stuck_ns += s.held;
	else if (ret && k->err)
		*k->err = why;
	return x->stuck ? 0 : ret;
}

static int take_all(struct taking *k)
{
	struct ki_stack_copies *c = k->c;
	struct dirent *d;
	char path[40];
	int ret = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", c->process->pid);
	dir = opendir(path);
	c->n = 0;
	while (!ret && dir && (d = readdir(dir))) {
		const pid_t tid = (pid_t)strtol(d->d_name, NULL, 10);
		struct ki_stack_copy *x = tid > 0 ? copy_for(c, tid) : NULL;

		if (tid <= 0)
			continue;
		ret = x ? take(k, x) : ki_err_set(k->err, -ENOMEM, 0, "out of memory for a stack");
		if (x && !x->found && !x->stuck)
			c->n--; /* it has ended */
	}
	if (dir)
		closedir(dir);
	return ret;
}

static int take_again(struct taking *k)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < k->c->n; i++)
		if (k->c->all.v[i].missed)
			ret = take(k, &k->c->all.v[i]);
	return ret;
}

static void *run(void *arg)
{
	struct taking *k = arg;

	k->ret = k->again ? take_again(k) : take_all(k);
	return NULL;
}

/* Is its memory still the one that the target was opened with? */
static int check_same(const struct ki_stack_copies *c, struct ki_err *err)
{
	const struct ki_process *p = c->process;
	uint8_t byte;

	if (!p->text.n || ki_process_peek(p->mem, p->text.v[0].start, &byte, 1) != -ESRCH)
		return 0;
	return ki_err_set(err, -ESRCH, 0, "process %d has ended, or is another program", p->pid);
}

static int read_maps(struct ki_stack_copies *c, struct ki_err *err)
{
	int ret;

	ki_mappings_free(&c->maps);
	ret = ki_mappings_read(&c->maps, c->process->pid);
	if (ret == -EACCES || ret == -EPERM)
		return ki_err_reason(err, KI_R_PROCESS_PERMISSION, 0, "process %d",
				     c->process->pid);
	return ret ? ki_err_set(err, ret, 0, "process %d: %s", c->process->pid, strerror(-ret)) : 0;
}

int ki_stack_copies_take(struct ki_stack_copies *c, bool again, struct ki_err *err)
{
	struct taking k = {.c = c, .again = again, .err = err};
	sigset_t all, before;
	pthread_t thread;
	int ret = check_same(c, err);

	if (!ret)
		ret = read_maps(c, err);
	if (ret)
		return ret;
	/* The caller's signals are none of that thread's. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	ret = pthread_create(&thread, NULL, run, &k);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (ret)
		return ki_err_set(err, -ret, 0, "a thread to read stacks: %s", strerror(ret));
	pthread_join(thread, NULL);
	if (k.ret)
		return k.ret;
	if (!c->n)
		return ki_err_set(err, -ESRCH, 0, "process %d has ended", c->process->pid);
	return check_same(c, err);
}

void ki_stack_copies_free(struct ki_stack_copies *c)
{
	for (size_t i = 0; i < c->all.n; i++) {
		free(c->all.v[i].own.bytes);
		free(c->all.v[i].other.bytes);
	}
	ki_vec_free(&c->all);
	ki_mappings_free(&c->maps);
}
