// SPDX-License-Identifier: GPL-2.0-only
/*
 * badptr: system calls with pointers that lead nowhere, or run off the end of what is mapped, and
 * with memory that has to be brought in first. Prints what each returned, and a sum of what was
 * copied: the same in each run.
 *
 * badptr sleep FILE: a write from memory that nobody provides yet (userfaultfd). Creates
 * FILE.asleep when the writer sleeps in its fault, provides the memory when FILE.wake is there,
 * and exits 0 if the writer then got all of it through. With a third argument it is an ioctl of
 * that file, which reads a word there.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define PAGE 4096
#define ASK  0x4b49 /* no number that the kernel knows */

static char *edge; /* two pages; after them, and at 16, nothing is mapped */
static char *nowhere = (char *)16;
static char *kernel = (char *)0xffff888000000000;
static char *odd = (char *)0x4141414141414141; /* not canonical */

/* What a call returned; of errors which one. */
static void say(const char *what, const char *how, long ret)
{
	printf("%s, %s: %ld %s\n", what, how, ret, ret < 0 ? strerrorname_np(errno) : "");
}

static unsigned long sum_of(const char *p, size_t n)
{
	unsigned long sum = 5381;

	while (n--)
		sum = sum * 33 + (unsigned char)*p++;
	return sum;
}

static int pipe_with(size_t n)
{
	int fd[2];
	char byte[PAGE];

	memset(byte, 'p', sizeof(byte));
	if (pipe(fd) || write(fd[1], byte, n) != (ssize_t)n)
		abort();
	close(fd[1]);
	return fd[0];
}

static void try_read_write(const char *how, char *p, size_t n)
{
	int zero = open("/dev/zero", O_RDONLY), pfd = pipe_with(n > PAGE ? PAGE : n), out[2];
	int file = memfd_create("badptr", 0);
	long ret;

	if (pipe(out) || ftruncate(file, 3 * PAGE))
		abort();
	say("read zero", how, syscall(SYS_read, zero, p, n));
	say("read pipe", how, syscall(SYS_read, pfd, p, n));
	say("read memfd", how, syscall(SYS_pread64, file, p, n, 0));
	say("write memfd", how, syscall(SYS_pwrite64, file, p, n, 100));
	ret = syscall(SYS_write, out[1], p, n);
	say("write pipe", how, ret);
	say("writev", how, syscall(SYS_writev, out[1], p, 2));
	say("getrandom", how, syscall(SYS_getrandom, p, n, 0));
	close(zero);
	close(pfd);
	close(out[0]);
	close(out[1]);
	close(file);
}

static void try_strings(const char *how, char *p)
{
	char *args[] = {p, NULL};

	memset(edge, '/', 2 * PAGE);
	say("open", how, syscall(SYS_openat, AT_FDCWD, p, O_RDONLY));
	say("stat", how, syscall(SYS_newfstatat, AT_FDCWD, p, p, 0));
	say("execve name", how, syscall(SYS_execve, p, args, args));
	say("execve argument", how, syscall(SYS_execve, "/nonexistent", args, args));
	say("execve vector", how, syscall(SYS_execve, "/bin/true", p, NULL));
	say("mount", how, syscall(SYS_mount, p, p, p, 0, p));
	say("setxattr", how, syscall(SYS_setxattr, "/tmp", p, p, 8, 0));
}

static void try_structures(const char *how, char *p)
{
	struct timeval soon = {0};
	long ret;
	int s = socket(AF_UNIX, SOCK_STREAM, 0), pfd = pipe_with(3), dir = open("/", O_RDONLY);

	memset(edge, '/', 2 * PAGE); /* no time to sleep */
	say("nanosleep", how, syscall(SYS_nanosleep, p, p));
	say("uname", how, syscall(SYS_uname, p));
	say("clock_gettime", how, syscall(SYS_clock_gettime, CLOCK_MONOTONIC, p));
	memset(edge, '/', 2 * PAGE); /* what follows must not depend on the time */
	say("sigaction", how, syscall(SYS_rt_sigaction, 10, p, p, 8));
	say("sigprocmask", how, syscall(SYS_rt_sigprocmask, 0, p, p, 8));
	say("poll", how, syscall(SYS_poll, p, 3, 0));
	ret = syscall(SYS_select, 64, p, p, p, &soon);
	say("select", how, ret > 0 ? 0 : ret); /* what is open and ready is not ours to say */
	say("fionread", how, syscall(SYS_ioctl, pfd, FIONREAD, p));
	say("getdents", how, syscall(SYS_getdents64, dir, p, 4096));
	say("getsockopt", how, syscall(SYS_getsockopt, s, SOL_SOCKET, SO_TYPE, p, p));
	say("setsockopt", how, syscall(SYS_setsockopt, s, SOL_SOCKET, SO_RCVLOWAT, p, 4));
	say("sendmsg", how, syscall(SYS_sendmsg, s, p, 0));
	say("pipe", how, syscall(SYS_pipe, p));
	say("getcpu", how, syscall(SYS_getcpu, p, p, 0));
	say("futex wait", how, syscall(SYS_futex, p, FUTEX_WAIT, 1, NULL, NULL, 0));
	say("futex lock", how, syscall(SYS_futex, p, FUTEX_TRYLOCK_PI, 0, NULL, NULL, 0));
	say("futex op", how,
	    syscall(SYS_futex, edge, FUTEX_WAKE_OP, 1, 1, p, FUTEX_OP(FUTEX_OP_XOR, 1, 0, 0)));
	say("getitimer", how, syscall(SYS_getitimer, 0, p));
	say("prlimit", how, syscall(SYS_prlimit64, 0, RLIMIT_CORE, NULL, p));
	say("epoll", how, syscall(SYS_epoll_ctl, 1, 1, 0, p));
	say("robust list", how, syscall(SYS_get_robust_list, 0, p, p));
	say("process_vm", how, syscall(SYS_process_vm_readv, getpid(), p, 1, p, 1, 0));
	close(s);
	close(pfd);
	close(dir);
}

static void all_at(const char *how, char *p)
{
	try_read_write(how, p, 512);
	try_strings(how, p);
	try_structures(how, p);
}

/* Memory of a file and of nothing, that each page must first be brought in of. */
static void bring_in(void)
{
	int file = open("/tmp/badptr.data", O_RDWR | O_CREAT | O_TRUNC, 0600), out[2], i;
	char *from, *to = mmap(NULL, 64 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			       -1, 0);
	char block[PAGE];

	for (i = 0; i < 64; i++) {
		memset(block, 'a' + i % 26, sizeof(block));
		if (write(file, block, sizeof(block)) != sizeof(block))
			abort();
	}
	from = mmap(NULL, 64 * PAGE, PROT_READ, MAP_SHARED, file, 0);
	if (pipe(out))
		abort();
	for (i = 0; i < 63; i++) {
		long in = write(out[1], from + i * PAGE + 100, PAGE);

		if (in != PAGE || read(out[0], to + i * PAGE + 33, PAGE) != PAGE)
			abort();
	}
	printf("brought in: %lu\n", sum_of(to, 64 * PAGE));
}

/* ---- the sleeper ---- */

/* NULL, or what was wrong. */
static void *write_all(void *page)
{
	int fd = memfd_create("sleeper", 0);
	char *back = malloc(2 * PAGE);

	if (write(fd, page, 2 * PAGE) != 2 * PAGE || pread(fd, back, 2 * PAGE, 0) != 2 * PAGE)
		return strdup("short");
	if (back[0] != 'u' || back[2 * PAGE - 1] != 'u')
		return strdup("wrong");
	return NULL;
}

static const char *asked; /* file */

static void *ask(void *page)
{
	int fd = open(asked, O_RDONLY);

	return fd < 0 || ioctl(fd, ASK, page) ? strdup("wrong") : NULL;
}

static void provide(int uffd, char *to, char *from)
{
	struct uffdio_copy copy = {.dst = (uintptr_t)to, .src = (uintptr_t)from, .len = PAGE};

	if (ioctl(uffd, UFFDIO_COPY, &copy))
		abort();
}

static char *in_file(const char *file, const char *suffix)
{
	char *name;

	return asprintf(&name, "%s.%s", file, suffix) < 0 ? NULL : name;
}

static int sleeper(const char *file)
{
	struct uffdio_api api = {.api = UFFD_API};
	struct uffdio_register reg = {.mode = UFFDIO_REGISTER_MODE_MISSING};
	int uffd = syscall(SYS_userfaultfd, O_CLOEXEC);
	char *page = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			  0),
	     *full = malloc(PAGE);
	struct uffd_msg msg;
	pthread_t thread;
	void *wrong;

	reg.range.start = (uintptr_t)page;
	reg.range.len = 2 * PAGE;
	memset(full, 'u', PAGE);
	if (uffd < 0 || ioctl(uffd, UFFDIO_API, &api) || ioctl(uffd, UFFDIO_REGISTER, &reg) ||
	    pthread_create(&thread, NULL, asked ? ask : write_all, page) ||
	    read(uffd, &msg, sizeof(msg)) != sizeof(msg))
		return 2;
	close(creat(in_file(file, "asleep"), 0600));
	while (access(in_file(file, "wake"), F_OK))
		usleep(10000);
	provide(uffd, page, full);
	provide(uffd, page + PAGE, full);
	pthread_join(thread, &wrong);
	if (wrong)
		fprintf(stderr, "badptr: the sleeper's write was %s\n", (char *)wrong);
	return wrong != NULL;
}

int main(int argc, char **argv)
{
	if (argc > 2 && !strcmp(argv[1], "sleep")) {
		asked = argv[3];
		return sleeper(argv[2]);
	}
	alarm(600);
	edge = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	munmap(edge + 2 * PAGE, PAGE);
	all_at("nowhere", nowhere);
	all_at("kernel", kernel);
	all_at("not canonical", odd);
	for (int n = 1; n <= 80; n += n < 20 ? 1 : 7) {
		char how[32];

		snprintf(how, sizeof(how), "%d before the end", n);
		memset(edge, '/', 2 * PAGE);
		all_at(how, edge + 2 * PAGE - n);
		try_read_write(how, edge + 2 * PAGE - PAGE - n, 2 * PAGE);
	}
	bring_in();
	return 0;
}
