// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests for processes. The process that they are for is one that we may lose: a victim, which
 * does nothing but call a function. Its text stands where ours does; what is right leads its first
 * instruction to another function that does the same.
 *
 * What is not right may lead a victim to any of our code, so it may make no system call but those
 * that it needs: it could stop us, or leave children that nobody ends.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fuzz.h"

#define PAGE 4096ull

int fuzz_victim(void);
int fuzz_same(void);
__asm__(".text\n"
	"fuzz_victim: movl $1, %eax; ret\n"
	"fuzz_same: movl $1, %eax; ret\n");

static pid_t *victim;

#define MAY(number)                                                                                \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),                                         \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

static void confine(void)
{
	struct sock_filter rows[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		MAY(SYS_clock_nanosleep),
		MAY(SYS_nanosleep),
		MAY(SYS_restart_syscall),
		MAY(SYS_rt_sigreturn),
		MAY(SYS_exit_group),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	struct sock_fprog filter = {sizeof(rows) / sizeof(*rows), rows};

	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter))
		_exit(1);
}

static _Noreturn void be_victim(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	confine();
	for (;;) {
		fuzz_victim();
		usleep(100);
	}
}

void victims_begin(void)
{
	victim = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (victim == MAP_FAILED || fork())
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		pid_t pid = fork();

		if (!pid)
			be_victim();
		__atomic_store_n(victim, pid, __ATOMIC_RELAXED);
		waitpid(pid, NULL, 0);
	}
}

void request_make_process(struct request *q, const struct session *s, struct arena *a,
			  struct rng *r)
{
	struct ki_process_open *req = request_piece(q, a, sizeof(*req));

	(void)s;
	q->cmd = KI_IOC_PROCESS;
	*req = (struct ki_process_open){.size = sizeof(*req),
					.pid = rng_one_in(r, 8) ? 2 : __atomic_load_n(victim, 0)};
}

void request_make_process_memory(struct request *q, const struct session *s, struct arena *a,
				 struct rng *r)
{
	struct ki_process_memory *req = request_piece(q, a, sizeof(*req));

	(void)s;
	q->cmd = KI_IOC_PROCESS_MEMORY;
	*req = (struct ki_process_memory){.size = sizeof(*req),
					  .bytes = PAGE * (1 + rng_below(r, 8))};
}

void request_make_process_map(struct request *q, const struct session *s, struct arena *a,
			      struct rng *r)
{
	struct ki_process_map *req = request_piece(q, a, sizeof(*req));

	(void)s;
	q->cmd = KI_IOC_PROCESS_MAP;
	*req = (struct ki_process_map){.size = sizeof(*req),
				       .flags = rng_below(r, 3),
				       .addr = (1ull << 32) + PAGE * rng_below(r, 1 << 16),
				       .len = PAGE * (1 + rng_below(r, 2)),
				       .offset = PAGE * rng_below(r, 3)};
	if (req->flags == KI_PROCESS_OWN)
		req->offset = 0;
}

static struct ki_process_edit right_edit(struct rng *r)
{
	uint64_t to = (uintptr_t)fuzz_same;
	struct ki_process_edit e = {.addr = (uintptr_t)fuzz_victim, .via = to, .len = 1};
	int32_t field = (int32_t)(to - (e.addr + 5));

	e.now[0] = 0xcc;
	if (rng_below(r, 2)) {
		e.len = 5;
		e.now[0] = 0xe9;
		memcpy(e.now + 1, &field, 4);
	}
	if (e.len == 1 && rng_one_in(r, 4))
		e.flags = KI_PROCESS_HOLD;
	memcpy(e.orig, (void *)(uintptr_t)e.addr, e.len);
	return e;
}

void request_make_process_edit(struct request *q, const struct session *s, struct arena *a,
			       struct rng *r)
{
	struct ki_process_edits *req = request_piece(q, a, sizeof(*req));
	struct ki_process_edit *v = request_piece(q, a, sizeof(*v));

	(void)s;
	q->cmd = KI_IOC_PROCESS_EDIT;
	*v = right_edit(r);
	*req = (struct ki_process_edits){.size = sizeof(*req), .count = 1, .edits = (uintptr_t)v};
}

void request_make_process_go(struct request *q, const struct session *s, struct arena *a,
			     struct rng *r)
{
	struct ki_process_go *req = request_piece(q, a, sizeof(*req));

	(void)s;
	(void)r;
	q->cmd = KI_IOC_PROCESS_GO;
	*req = (struct ki_process_go){.size = sizeof(*req)};
}

void request_make_process_release(struct request *q, const struct session *s, struct arena *a,
				  struct rng *r)
{
	struct ki_process_release *req = request_piece(q, a, sizeof(*req));
	uint32_t *numbers = request_piece(q, a, 2 * sizeof(*numbers));

	(void)s;
	q->cmd = KI_IOC_PROCESS_RELEASE;
	numbers[0] = 0;
	numbers[1] = 1;
	*req = (struct ki_process_release){.size = sizeof(*req),
					   .count = rng_one_in(r, 8) ? 2 : 1,
					   .numbers = (uintptr_t)numbers};
}
