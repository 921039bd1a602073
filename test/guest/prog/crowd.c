// SPDX-License-Identifier: GPL-2.0-only
/*
 * crowd THREADS FILE: so many threads, every other one asleep in a fault that it took in a system
 * call's copy from user space (userfaultfd), the others asleep elsewhere. Creates FILE.asleep when
 * all of the first sleep, and waits for FILE.wake; then all go on, and it exits 0.
 */
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE  4096
#define STACK 16384

static char *page; /* which nobody provides yet; then it is all zero */
static int idle[2];

static void *sleep_in_fault(void *unused)
{
	(void)unused;
	return (void *)syscall(SYS_nanosleep, page, NULL);
}

static void *sleep_elsewhere(void *unused)
{
	char byte;

	(void)unused;
	return (void *)(intptr_t)read(idle[0], &byte, 1); /* until the other end is closed */
}

static void die(const char *what)
{
	perror(what);
	exit(2);
}

static char *in_file(const char *file, const char *suffix)
{
	char *name;

	return asprintf(&name, "%s.%s", file, suffix) < 0 ? NULL : name;
}

static int open_missing(void)
{
	struct uffdio_api api = {.api = UFFD_API};
	struct uffdio_register reg = {.mode = UFFDIO_REGISTER_MODE_MISSING};
	int uffd = syscall(SYS_userfaultfd, O_CLOEXEC);

	page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	reg.range.start = (uintptr_t)page;
	reg.range.len = PAGE;
	if (uffd < 0 || ioctl(uffd, UFFDIO_API, &api) || ioctl(uffd, UFFDIO_REGISTER, &reg))
		die("userfaultfd");
	return uffd;
}

static pthread_t *start(int n)
{
	pthread_t *v = calloc(n, sizeof(*v));
	pthread_attr_t attr;
	char *stacks = mmap(NULL, (size_t)n * STACK, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	pthread_attr_init(&attr);
	for (int i = 0; i < n; i++) {
		pthread_attr_setstack(&attr, stacks + (size_t)i * STACK, STACK);
		if (pthread_create(&v[i], &attr, i % 2 ? sleep_elsewhere : sleep_in_fault, NULL))
			die("pthread_create");
	}
	return v;
}

int main(int argc, char **argv)
{
	struct uffdio_zeropage zero = {.range = {.len = PAGE}};
	int n = argc == 3 ? atoi(argv[1]) : 0, uffd = open_missing();
	struct uffd_msg msg;
	pthread_t *threads;
	void *ret;
	long bad = 0;

	if (n < 2 || pipe(idle))
		return 2;
	threads = start(n);
	for (int i = 0; i < (n + 1) / 2; i++)
		if (read(uffd, &msg, sizeof(msg)) != sizeof(msg))
			die("userfaultfd");
	close(creat(in_file(argv[2], "asleep"), 0600));
	while (access(in_file(argv[2], "wake"), F_OK))
		usleep(100000);
	zero.range.start = (uintptr_t)page;
	if (ioctl(uffd, UFFDIO_ZEROPAGE, &zero))
		die("userfaultfd");
	close(idle[1]);
	for (int i = 0; i < n; i++) {
		pthread_join(threads[i], &ret);
		bad += ret != NULL;
	}
	return bad != 0;
}
