// SPDX-License-Identifier: GPL-2.0-only
/*
 * ask_apart: of which processes the driver says that their threads are told apart by the word at
 * their FS base. Each is a child of ours that has made itself what it is, and waits.
 */
#include <asm/prctl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ask.h"

static volatile int *ready; /* how many threads wait */

/* Nothing here asks which thread it is. */
static void wait_for_ever(void)
{
	long ret;

	__atomic_add_fetch(ready, 1, __ATOMIC_RELEASE);
	for (;;)
		__asm__ volatile("syscall" : "=a"(ret) : "0"(SYS_pause) : "rcx", "r11", "memory");
}

static void set_base(uint64_t base)
{
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "0"(SYS_arch_prctl), "D"(ARCH_SET_FS), "S"(base)
			 : "rcx", "r11", "memory");
	wait_for_ever();
}

static uint64_t storage[512]; /* of zeros */

static void as_it_is(void)
{
}

static void without(void)
{
	set_base(0);
}

static void of_zeros(void)
{
	set_base((uintptr_t)&storage[256]);
}

static void of_another(void)
{
	storage[256] = (uintptr_t)&storage[255];
	set_base((uintptr_t)&storage[256]);
}

static void of_its_own(void)
{
	storage[256] = (uintptr_t)&storage[256];
	set_base((uintptr_t)&storage[256]);
}

static void nowhere(void)
{
	set_base(PAGE);
}

static void *thread(void *unused)
{
	wait_for_ever();
	return unused;
}

static void several(void)
{
	pthread_t id;

	for (int i = 0; i < 200; i++)
		pthread_create(&id, NULL, thread, NULL);
}

static int stray(void *unused)
{
	(void)unused;
	wait_for_ever();
	return 0;
}

static void one_of_several(void)
{
	static char stack[65536] __attribute__((aligned(64)));

	several();
	clone(stray, stack + sizeof(stack),
	      CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SETTLS, NULL,
	      NULL, &storage[256]);
}

/* What is said of a child that has done this, when `threads` of it wait; -1: nothing. */
static int apart(void (*how)(void), int threads)
{
	struct ki_process_open req = {.size = sizeof(req)};
	int fd = session(), ret;

	*ready = 0;
	req.pid = fork();
	if (!req.pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		how();
		wait_for_ever();
	}
	while (__atomic_load_n(ready, __ATOMIC_ACQUIRE) < threads)
		usleep(1000);
	ret = ioctl(fd, KI_IOC_PROCESS, &req);
	close(fd);
	kill(req.pid, SIGKILL);
	waitpid(req.pid, NULL, 0);
	return ret ? -1 : (int)req.apart;
}

static int said_before(void)
{
	struct ki_process_open req = {.size = sizeof(req), .pid = getpid(), .apart = 1};
	int fd = session(), ret = say(ioctl(fd, KI_IOC_PROCESS, &req), 0);

	close(fd);
	return ret;
}

int main(void)
{
	ready = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	is("a process of the C library's", apart(as_it_is, 1), 1);
	is("one of many threads", apart(several, 201), 1);
	is("one that has set the same up itself", apart(of_its_own, 1), 1);
	is("one without an FS base", apart(without, 1), 0);
	is("one where 0 stands there", apart(of_zeros, 1), 0);
	is("one where another address stands there", apart(of_another, 1), 0);
	is("one whose FS base is nowhere", apart(nowhere, 1), 0);
	is("one of whose threads one is so", apart(one_of_several, 202), 0);
	is("the answer in the question", said_before(), WITH(EINVAL, 0));
	return failures != 0;
}
