/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* The caller's side: link, make the guard, read counters. */
#include "kerninst/process.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "process/stop.h"
#include "process/tally.h"
#include "process/ways.h"
#include "splice/plan.h"
#include "target/process.h"

#define TRIES 5

#ifndef HWCAP2_FSGSBASE
#define HWCAP2_FSGSBASE (1 << 1)
#endif

static bool has_shadow_stack(pid_t pid)
{
	char features[64];

	return !ki_process_status(pid, "x86_Thread_features", features, sizeof(features)) &&
	       strstr(features, "shstk");
}

/* A syscall instruction in a mapping. */
static uint64_t find_insn(int mem, const struct ki_mapping *m)
{
	size_t len = m->end - m->start < (1 << 20) ? m->end - m->start : 1 << 20;
	uint8_t *bytes = malloc(len), *at = NULL;
	uint64_t found = 0;

	if (bytes && !ki_process_peek(mem, m->start, bytes, len))
		at = memmem(bytes, len, "\x0f\x05", 2);
	if (at)
		found = m->start + (uint64_t)(at - bytes);
	free(bytes);
	return found;
}

/* Preferably the vdso's: every process has one. */
static int find_syscall(struct ki_guarded *g, const struct ki_mappings *maps, struct ki_err *err)
{
	for (int vdso = 1; vdso >= 0; vdso--)
		for (size_t i = 0; i < maps->m.n; i++) {
			const struct ki_mapping *m = &maps->m.v[i];

			if (!m->executable || !m->readable ||
			    (vdso && strcmp(ki_mapping_path(maps, m), "[vdso]")) ||
			    !strcmp(ki_mapping_path(maps, m), "[vsyscall]"))
				continue;
			g->insn = find_insn(g->mem, m);
			g->label = m->start;
			if (g->insn)
				return 0;
		}
	return ki_err_set(err, -ENOENT, 0, "process %d has no syscall instruction", g->pid);
}

static int receive(struct ki_splice_process *s, struct ki_reply *reply, struct ki_err *err)
{
	ssize_t n;

	do
		n = recv(s->sock, reply, sizeof(*reply), MSG_WAITALL);
	while (n < 0 && errno == EINTR);
	if (n != sizeof(*reply))
		return ki_err_set(err, -EPIPE, 0, "the guard process has been killed");
	s->cost = reply->cost;
	if (reply->ret && err && !err->code)
		*err = reply->err;
	return reply->ret;
}

static void end_guard(struct ki_splice_process *s)
{
	if (s->sock >= 0)
		close(s->sock);
	s->sock = -1;
	if (s->guard > 0)
		while (waitpid(s->guard, NULL, 0) < 0 && errno == EINTR)
			;
	s->guard = 0;
}

static int map_counters(struct ki_splice_process *s, const struct ki_linked *x, int file,
			struct ki_err *err)
{
	char path[48];
	void *map;
	int fd;

	if (!x->arenas.n)
		return 0;
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", s->guard, file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	map = fd < 0 ? MAP_FAILED : mmap(NULL, x->counters_len, PROT_READ, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		ki_err_set(err, -errno, 0, "the counters cannot be mapped: %s", strerror(errno));
	if (fd >= 0)
		close(fd);
	if (map == MAP_FAILED)
		return -EIO;
	s->values = map;
	s->len = x->counters_len;
	return 0;
}

/* Make the guard, and see what it says. */
static int install_by_guard(struct ki_splice_process *s, struct ki_err *err)
{
	struct ki_err ignored = {0};
	struct ki_reply reply;
	int pair[2], ret;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return ki_err_set(err, -errno, 0, "no guard: %s", strerror(errno));
	s->guard = fork();
	if (!s->guard) {
		close(pair[0]);
		ki_guard_run(&s->g, pair[1]);
	}
	close(pair[1]);
	s->sock = pair[0];
	if (s->guard < 0)
		ret = ki_err_set(err, -errno, 0, "no guard: %s", strerror(errno));
	else
		ret = receive(s, &reply, err);
	if (!ret)
		ret = map_counters(s, &s->linked, reply.file, err);
	if (ret == -EPIPE)
		ki_guard_restore_text(&s->g, &ignored);
	if (ret)
		end_guard(s);
	return ret;
}

static int check_for_guard(struct ki_splice_process *s, const struct ki_mappings *maps,
			   struct ki_err *err)
{
	if (ki_thread_filters(s->g.pid))
		return ki_err_reason(err, KI_R_PROCESS_SECCOMP, 0, "process %d", s->g.pid);
	return find_syscall(&s->g, maps, err);
}

static int remove_by_guard(struct ki_splice_process *s, struct ki_err *err)
{
	struct ki_reply reply;
	int ret;

	if (!s->guard)
		return 0;
	send(s->sock, "", 1, MSG_NOSIGNAL);
	ret = receive(s, &reply, NULL);
	if (ret && ret != -EPIPE)
		ki_err_set(err, ret, 0, "%s", reply.err.msg);
	end_guard(s);
	if (ret != -EPIPE)
		return ret;
	ret = ki_guard_restore(&s->g, err);
	s->cost = s->g.cost;
	return ret;
}

static int release_by_guard(struct ki_splice_process *s, struct ki_err *err)
{
	const char byte = KI_GUARD_RELEASE;
	struct ki_reply reply;
	int ret = -EPIPE;

	if (s->guard && send(s->sock, &byte, 1, MSG_NOSIGNAL) == 1)
		ret = receive(s, &reply, NULL);
	if (ret == -EPIPE)
		return ki_guard_release(&s->g, err);
	if (ret && err)
		*err = reply.err;
	return ret;
}

static const struct ki_process_way way_of_guard = {check_for_guard, install_by_guard,
						   remove_by_guard, release_by_guard};

static void forget_values(struct ki_splice_process *s)
{
	if (s->values)
		munmap(s->values, s->len);
	s->values = NULL;
}

/*
 * The loader of the GNU C library: at the FS base of each of its threads is that address, as long
 * as the thread executes anything. (musl's ends when its memory has gone already; Go's has none.)
 */
static bool tells_threads(const struct ki_process *p, const struct ki_mappings *maps)
{
	for (size_t i = 0; !p->go.n && i < maps->m.n; i++)
		if (strstr(ki_mapping_path(maps, &maps->m.v[i]), "/ld-linux-x86-64.so"))
			return true;
	return false;
}

/* Some thread cannot be told from others: it has not begun yet. Or what the process may map, or
   must lock, or the session may have, is too little for blocks of threads. */
static bool wants_too_much(const struct ki_splice_process *s, int ret)
{
	const bool little = ret == -ENOMEM || ret == -EAGAIN || ret == -EDQUOT;

	return ret == -ENOTUNIQ || (s->linked.blocks && little);
}

/* The guard reads what its creator marks. */
static int share_released(struct ki_linked *x, struct ki_err *err)
{
	void *map = mmap(NULL, x->edits.n + 1, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			 -1, 0);

	if (map == MAP_FAILED)
		return ki_err_set(err, -ENOMEM, 0, "out of memory");
	x->released = map;
	return 0;
}

static int first_refusal(const struct ki_target *t, const struct ki_plan *p, struct ki_err *err)
{
	for (size_t i = 0; i < p->chunks.n; i++) {
		const struct ki_chunk *c = &p->chunks.v[i].c;
		const uint64_t addr = p->windows.v[c->window].addr;
		const struct ki_symbol *sym = ki_target_symbol_at(t, addr);

		if (c->reason)
			return ki_err_reason(err, c->reason, addr, "%s+0x%llx",
					     sym ? sym->name : "",
					     (unsigned long long)(addr - (sym ? sym->addr : 0)));
	}
	return 0;
}

static int look_at_linked(struct ki_splice_process *s, const struct ki_target *t,
			  const struct ki_plan *p, struct ki_err *err)
{
	const int ret = s->whole ? first_refusal(t, p, err) : 0;

	return !ret && s->sheds ? share_released(&s->linked, err) : ret;
}

/* May bare counters be of each thread? By the guard's way the threads are looked at, too. */
static bool may_tally(const struct ki_splice_process *s, const struct ki_mappings *maps)
{
	const bool driver = s->way == &ki_process_way_of_driver;

	return !s->shared && !s->alone && !s->told && (!driver || s->process->apart) &&
	       tells_threads(s->process, maps);
}

/* With the mappings as they were read, if they were. */
static struct ki_linking linking_of(const struct ki_splice_process *s, const struct ki_target *t,
				    struct ki_plan *p, const struct ki_mappings *maps)
{
	const struct ki_process *process = t->own;
	const bool driver = s->way == &ki_process_way_of_driver;

	return (struct ki_linking){
		.plan = p,
		.target = t,
		.counters = s->counters,
		.words = s->alone ? 0 : process->words,
		.alone = s->alone,
		.shadow_stack = has_shadow_stack(process->pid),
		.process = process,
		.hits = s->told ? s->told->flags : 0,
		.semaphores = s->told ? s->told->semaphores : NULL,
		.nsemaphores = s->told ? s->told->n : 0,
		.driver = driver,
		.tally = may_tally(s, maps),
		.maps = maps,
	};
}

static int attempt(struct ki_splice_process *s, struct ki_target *t, struct ki_plan *p,
		   struct ki_err *err)
{
	const struct ki_process *process = t->own;
	struct ki_mappings maps = {0};
	int ret = ki_mappings_read(&maps, process->pid);
	const struct ki_linking how = linking_of(s, t, p, &maps);

	s->g = (struct ki_guarded){
		.pid = process->pid, .mem = process->mem, .linked = &s->linked, .file = -1};
	if (ret)
		ki_err_set(err, ret, 0, "process %d has ended", process->pid);
	ki_linked_free(&s->linked);
	if (!ret)
		ret = s->way->check(s, &maps, err);
	if (!ret)
		ret = ki_linked_make(&s->linked, t, &how, err);
	if (!ret)
		ret = look_at_linked(s, t, p, err);
	p->user = true;
	p->driven = s->way == &ki_process_way_of_driver;
	p->tally = s->linked.blocks;
	if (!ret && s->linked.arenas.n && !s->dry)
		ret = s->way->install(s, err);
	if (ret) {
		s->way->remove(s, NULL);
		forget_values(s);
	}
	if (!ret && !s->alone)
		s->process->rows = s->linked.rows;
	ki_mappings_free(&maps);
	return ret;
}

static int begin(struct ki_splice_process *s, struct ki_target *t, struct ki_err *err)
{
	struct ki_process *process = t->own;
	uint8_t byte;

	if (process->words && !(getauxval(AT_HWCAP2) & HWCAP2_FSGSBASE))
		return ki_err_set(err, -EOPNOTSUPP, 0,
				  "process %d: this machine does not let code read where its "
				  "thread's memory is (FSGSBASE): hits alone can be counted",
				  process->pid);
	if (process->words && process->go.n)
		return ki_err_set(
			err, -EOPNOTSUPP, 0,
			"process %d: what Go calls its threads (goroutines) move from one "
			"thread to another, so nothing can be said of threads: hits alone "
			"can be counted",
			process->pid);
	s->way = !s->alone && ki_process_by_driver(t) ? &ki_process_way_of_driver : &way_of_guard;
	if (s->told && s->way == &way_of_guard)
		return ki_err_reason(err, KI_R_NOT_IN_PROCESS, 0, "process %d: not by the driver",
				     process->pid);
	s->process = process;
	if (s->way == &ki_process_way_of_driver) {
		s->device = process->device;
		process->device = -1;
	}
	s->pidfd = (int)syscall(SYS_pidfd_open, process->pid, 0);
	/* The number is still that of the process whose memory has been opened. */
	if (s->pidfd < 0 || ki_process_peek(process->mem, process->text.v[0].start, &byte, 1))
		return ki_err_set(err, -ESRCH, 0, "process %d has ended", process->pid);
	return 0;
}

int ki_process_put(const struct ki_splice_process *what, struct ki_target *t, struct ki_plan *p,
		   struct ki_splice_process **out, struct ki_err *err)
{
	struct ki_splice_process *s;
	int ret;

	if (ki_target_kind(t) != KI_TARGET_PROCESS)
		return ki_err_set(err, -EINVAL, 0, "the target is no process");
	s = calloc(1, sizeof(*s));
	if (!s)
		return ki_err_set(err, -ENOMEM, 0, "out of memory");
	*s = *what;
	s->sock = s->pidfd = s->device = -1;
	ret = begin(s, t, err);
	if (!ret)
		ret = attempt(s, t, p, err);
	if (wants_too_much(s, ret)) {
		ki_err_clear(err);
		s->shared = true;
		ret = attempt(s, t, p, err);
	}
	/* The process has mapped something where we wanted to. */
	for (int i = 0; i < TRIES && ret == -EEXIST; i++) {
		ki_err_clear(err);
		ret = attempt(s, t, p, err);
	}
	if (ret == -EEXIST) {
		ki_err_clear(err);
		ki_err_set(err, ret, 0,
			   "process %d: it maps memory all the time where ours is to be; try again "
			   "later",
			   s->process->pid);
	}
	s->told = NULL;
	if (ret)
		ki_process_free(s);
	else
		*out = s;
	return ret;
}

int ki_process_new(struct ki_target *t, struct ki_plan *p, uint32_t counters,
		   struct ki_splice_process **out, struct ki_err *err)
{
	return ki_process_put(&(struct ki_splice_process){.counters = counters, .sheds = p->sheds},
			      t, p, out, err);
}

int ki_process_check(struct ki_target *t, struct ki_plan *p, uint32_t counters, struct ki_err *err)
{
	struct ki_splice_process *s;
	int ret = ki_process_put(
		&(struct ki_splice_process){.counters = counters, .sheds = p->sheds, .dry = true},
		t, p, &s, err);

	if (!ret)
		ki_process_free(s);
	return ret;
}

int ki_process_new_whole(struct ki_target *t, struct ki_plan *p, uint32_t counters,
			 struct ki_splice_process **out, struct ki_err *err)
{
	return ki_process_put(&(struct ki_splice_process){.counters = counters, .whole = true}, t,
			      p, out, err);
}

int ki_process_tell(struct ki_target *t, struct ki_plan *p, const struct ki_process_told *told,
		    struct ki_splice_process **out, struct ki_err *err)
{
	return ki_process_put(&(struct ki_splice_process){.counters = 1, .told = told}, t, p, out,
			      err);
}

uint64_t ki_process_read(const struct ki_splice_process *s, uint32_t counter)
{
	return s->values && counter < s->counters ? ki_tally_read(&s->linked, s->values, counter)
						  : 0;
}

uint64_t ki_process_lost(const struct ki_splice_process *s)
{
	return s->values && s->linked.words
		       ? __atomic_load_n(&s->values[ki_linked_word(&s->linked, KI_WORD_LOST)],
					 __ATOMIC_RELAXED)
		       : 0;
}

int ki_process_ended(const struct ki_splice_process *s)
{
	return s->pidfd;
}

const struct ki_process_cost *ki_process_cost(const struct ki_splice_process *s)
{
	return &s->cost;
}

int ki_process_update(struct ki_splice_process *s, struct ki_plan *p, struct ki_err *err)
{
	size_t n;
	int ret;

	if (!s->linked.released || s->linked.plan != p)
		return ki_err_set(err, -EINVAL, 0, "process %d: not a plan that gives back parts",
				  s->process->pid);
	ki_plan_count_active(p);
	ret = ki_linked_release(&s->linked, &n);
	if (ret)
		return ki_err_set(err, ret, 0, "out of memory");
	return n ? s->way->release(s, err) : 0;
}

int ki_process_remove(struct ki_splice_process *s, struct ki_err *err)
{
	if (s->linked.rows)
		s->process->rows = 0;
	return s->way ? s->way->remove(s, err) : 0;
}

void ki_process_free(struct ki_splice_process *s)
{
	if (!s)
		return;
	ki_process_remove(s, NULL);
	ki_linked_free(&s->linked);
	forget_values(s);
	if (s->pidfd >= 0)
		close(s->pidfd);
	free(s);
}
