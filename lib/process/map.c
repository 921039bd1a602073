/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Our memory in the process: a file in memory, which a thread of the process makes, maps and closes
 * again for us. The patches are written through the guard's descriptor of the same file, and the
 * counters read through the caller's, so in the process nothing is writable and executable, and
 * what was counted is still there when it has ended.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "process/guard.h"
#include "process/stop.h"

#define RED_ZONE 128

static int ended(const struct ki_guarded *g, struct ki_err *err)
{
	return ki_err_set(err, -ESRCH, 0, "process %d has ended", g->pid);
}

static int failed(const struct ki_guarded *g, const char *what, long error, struct ki_err *err)
{
	if (error == -ESRCH)
		return ended(g, err);
	return ki_err_set(err, (int)error, 0, "process %d: %s: %s", g->pid, what,
			  strerror((int)-error));
}

/* The file's name, where the thread's stack will be; or, if there is none, what stands elsewhere.
 */
static uint64_t put_name(const struct ki_guarded *g, const struct ki_thread *t)
{
	static const char name[] = "kerninst";
	uint64_t at = (t->regs.rsp - RED_ZONE - sizeof(name)) & ~7ull;

	return pwrite(g->mem, name, sizeof(name), (off_t)at) == sizeof(name) ? at : g->label;
}

static int open_file(struct ki_guarded *g, long number, struct ki_err *err)
{
	const struct ki_linked *x = g->linked;
	const struct ki_arena *last = &x->arenas.v[x->arenas.n - 1];
	char path[48];

	snprintf(path, sizeof(path), "/proc/%d/fd/%ld", g->pid, number);
	g->file = open(path, O_RDWR | O_CLOEXEC);
	if (g->file < 0 || ftruncate(g->file, (off_t)(last->off + last->len)))
		return failed(g, "shared memory", -errno, err);
	return 0;
}

/* Nobody is held meanwhile, and nobody is there yet. */
int ki_arenas_fill(struct ki_guarded *g, struct ki_err *err)
{
	const struct ki_linked *x = g->linked;

	for (size_t i = 0; i < x->arenas.n; i++) {
		const struct ki_arena *a = &x->arenas.v[i];
		ssize_t n = pwrite(g->file, a->code, a->len, (off_t)a->off);

		if (n != (ssize_t)a->len)
			return failed(g, "shared memory", n < 0 ? -errno : -ENOSPC, err);
	}
	return 0;
}

int ki_arenas_open(struct ki_guarded *g, struct ki_err *err)
{
	const uint64_t open = KI_GATE_OPEN;
	const off_t at = (off_t)(8 * ki_linked_word(g->linked, KI_WORD_GATE));

	if (g->linked->words && pwrite(g->file, &open, sizeof(open), at) != sizeof(open))
		return failed(g, "shared memory", -errno, err);
	return 0;
}

static long map(struct ki_remote *r, uint64_t at, size_t len, int prot, long file, uint64_t off)
{
	const uint64_t args[6] = {
		at, len, (uint64_t)prot, MAP_SHARED | MAP_FIXED_NOREPLACE, (uint64_t)file, off};
	long ret = ki_remote_call(r, SYS_mmap, args);

	if (ret == (long)at || (ret < 0 && ret > -4096))
		return ret < 0 ? ret : 0;
	return -EEXIST; /* a kernel that does not know MAP_FIXED_NOREPLACE has placed it elsewhere
			 */
}

static void unmap(struct ki_remote *r, const struct ki_linked *x, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct ki_arena *a = &x->arenas.v[i];
		const uint64_t args[6] = {a->base, x->counters_len + a->len + a->rows};

		ki_remote_call(r, SYS_munmap, args);
	}
}

/* The rows of threads are the process's own, and what it forks finds them empty. */
static long map_rows(struct ki_remote *r, uint64_t at, size_t len)
{
	const uint64_t args[6] = {at,
				  len,
				  PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE,
				  (uint64_t)-1,
				  0};
	const uint64_t wipe[6] = {at, len, MADV_WIPEONFORK};
	long ret = ki_remote_call(r, SYS_mmap, args);

	if (ret != (long)at)
		return ret < 0 && ret > -4096 ? ret : -EEXIST;
	ret = ki_remote_call(r, SYS_madvise, wipe);
	if (ret)
		ki_remote_call(r, SYS_munmap, args);
	return ret;
}

static long map_arena(struct ki_remote *r, const struct ki_linked *x, const struct ki_arena *a,
		      long file)
{
	const uint64_t code = a->base + x->counters_len;
	const uint64_t counters[6] = {a->base, x->counters_len}, patches[6] = {code, a->len};
	long ret = map(r, a->base, x->counters_len, PROT_READ | PROT_WRITE, file, 0);

	if (ret)
		return ret;
	ret = map(r, code, a->len, PROT_READ | PROT_EXEC, file, a->off);
	if (!ret && a->rows) {
		ret = map_rows(r, code + a->len, a->rows);
		if (ret)
			ki_remote_call(r, SYS_munmap, patches);
	}
	if (ret)
		ki_remote_call(r, SYS_munmap, counters);
	return ret;
}

static int map_all(struct ki_guarded *g, struct ki_remote *r, struct ki_err *err)
{
	const uint64_t create[6] = {put_name(g, r->t), MFD_CLOEXEC};
	long file = ki_remote_call(r, SYS_memfd_create, create), error = 0;
	const uint64_t close[6] = {(uint64_t)file};
	size_t i;
	int ret;

	if (file < 0)
		return failed(g, "memfd_create", file, err);
	ret = open_file(g, file, err);
	for (i = 0; !ret && !error && i < g->linked->arenas.n; i++)
		error = map_arena(r, g->linked, &g->linked->arenas.v[i], file);
	ki_remote_call(r, SYS_close, close);
	if (!error)
		return ret;
	unmap(r, g->linked, i - 1);
	return failed(g, "mmap", error, err);
}

bool ki_guard_is_same(const struct ki_guarded *g)
{
	uint8_t byte;

	return !ki_process_peek(g->mem, g->insn, &byte, 1);
}

int ki_arenas_map(struct ki_guarded *g, struct ki_err *err)
{
	struct ki_remote r;
	struct ki_thread *t;
	struct ki_stop s;
	int ret = ki_stop_threads(&s, g->pid, 1, err);

	if (ret)
		return ret;
	t = ki_guard_is_same(g) ? ki_remote_lend(&s, g->mem) : NULL;
	if (!ki_guard_is_same(g))
		ret = ended(g, err);
	else if (!t)
		ret = -EAGAIN;
	else if (ki_remote_begin(&r, t, g->insn))
		ret = ended(g, err);
	else
		ret = map_all(g, &r, err);
	if (t)
		ki_remote_end(&r);
	ki_stop_release(&s);
	g->cost.mapping_ns = s.held;
	return ret;
}

bool ki_arenas_unmap(struct ki_guarded *g, struct ki_stop *s)
{
	struct ki_thread *t = ki_remote_lend(s, g->mem);
	struct ki_remote r;

	if (!t || ki_remote_begin(&r, t, g->insn))
		return false;
	unmap(&r, g->linked, g->linked->arenas.n);
	ki_remote_end(&r);
	return true;
}
