// SPDX-License-Identifier: GPL-2.0-only
/*
 * ask_own: what the driver says to requests for memory that is a process's own, right and wrong
 * ones (KI_PROCESS_OWN), and what is mapped then. The process is a child of ours, which sleeps; for
 * each signal it forks, and says what the child found in that memory.
 */
#include <linux/capability.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ask.h"

#define ROOM (1ull << 33) /* where nothing is */

#define WRONG WITH(EINVAL, KI_R_BAD_REQUEST)

static uint64_t *found; /* by the child's child; shared */

static int map_as(int fd, uint32_t flags, uint64_t addr, uint64_t len, uint64_t offset)
{
	struct ki_process_map req = {
		.size = sizeof(req), .flags = flags, .addr = addr, .len = len, .offset = offset};
	int ret = ioctl(fd, KI_IOC_PROCESS_MAP, &req);

	return say(ret, req.reason);
}

static int map(int fd, uint64_t addr, uint64_t len)
{
	return map_as(fd, KI_PROCESS_OWN, addr, len, 0);
}

/* A row of /proc/PID/smaps that is about addr: its rights, and what is done to it at a fork. */
static void say_mapped(pid_t pid, uint64_t addr, char *out, size_t size)
{
	char path[32], line[512], rights[8] = "";
	unsigned long start, end;
	bool there = false;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/smaps", pid);
	f = fopen(path, "re");
	*out = 0;
	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%lx-%lx %7s", &start, &end, rights) == 3)
			there = start <= addr && addr < end;
		else if (there && !strncmp(line, "VmFlags:", 8))
			snprintf(out, size, "%s%s", rights, strstr(line, " wf") ? " wiped" : "");
	}
	if (f)
		fclose(f);
}

static void is_mapped(const char *name, pid_t pid, uint64_t addr, const char *wanted)
{
	char said[32];

	say_mapped(pid, addr, said, sizeof(said));
	is(name, strcmp(said, wanted), 0);
}

/* What sessions in this process have taken. */
static int pages_of(pid_t pid)
{
	struct ki_session_row row = {.size = sizeof(row)};
	int fd = session(), pages = 0;

	while (!ioctl(fd, KI_IOC_SESSION, &row)) {
		if (row.process == (uint32_t)pid)
			pages += (int)row.pages;
	}
	close(fd);
	return pages;
}

static void fork_and_look(int sig)
{
	volatile uint64_t *own = (uint64_t *)ROOM;
	pid_t pid;

	(void)sig;
	*own = 5;
	pid = fork();
	if (!pid) {
		*found = 100 + *own;
		*own = 7;
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	*found += 10 * *own;
}

static pid_t child(void)
{
	const struct sigaction forks = {.sa_handler = fork_and_look};
	pid_t pid;

	sigaction(SIGUSR1, &forks, NULL);
	pid = fork();
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;)
		pause();
}

static void wrong(int fd)
{
	is("its own that is executed", map_as(fd, KI_PROCESS_OWN | KI_PROCESS_CODE, ROOM, PAGE, 0),
	   WRONG);
	is("its own of a file", map_as(fd, KI_PROCESS_OWN, ROOM, PAGE, PAGE), WRONG);
	is("what is no flag", map_as(fd, 0x4, ROOM, PAGE, 0), WRONG);
	is("its own at 0", map(fd, 0, PAGE), WRONG);
	is("above all", map(fd, -PAGE, PAGE), WRONG);
	is("up to above all", map(fd, (1ull << 56) - 2 * PAGE, 3 * PAGE), WRONG);
	is("none", map(fd, ROOM, 0), WRONG);
	is("half a page", map(fd, ROOM, PAGE / 2), WRONG);
	is("not at a page", map(fd, ROOM + 8, PAGE), WRONG);
	is("too much", map(fd, ROOM, KI_PROCESS_BYTES + PAGE), WRONG);
	is("over what is there", map(fd, (uintptr_t)child & -PAGE, PAGE), WITH(EEXIST, 0));
}

static void right(pid_t pid)
{
	int fd = session();

	is("its own before there is a process", map(fd, ROOM, PAGE), WRONG);
	is("the process", begin(fd, pid), 0);
	wrong(fd);
	is_mapped("then nothing is there", pid, ROOM, "");
	is("its own, without other memory", map(fd, ROOM, 3 * PAGE), 0);
	is("there again", map(fd, ROOM + PAGE, PAGE), WITH(EEXIST, 0));
	is_mapped("it is private, and wiped in a child", pid, ROOM + 2 * PAGE, "rw-p wiped");
	is_mapped("no page more", pid, ROOM + 3 * PAGE, "");
	is("what has been asked for is charged, mapped or not", pages_of(pid), 5);
	kill(pid, SIGUSR1);
	for (int i = 0; i < 1000 && *found != 150; i++)
		usleep(10000);
	is("a child finds 0 there, and its parent what it wrote", (int)*found, 150);
	close(fd);
	is("nothing is charged after the end", pages_of(pid), 0);
	is_mapped("it goes when the session has ended", pid, ROOM, "");
}

/* Ours is beside memory of the process's own, of which nothing is wiped. */
static void neighbours(void)
{
	uint64_t at = (uintptr_t)mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE,
				      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd = session();
	pid_t other;

	munmap((void *)(uintptr_t)(at + PAGE), 2 * PAGE);
	other = child(); /* it has two pages with a gap between them */
	begin(fd, other);
	is("between two of its pages", map(fd, at + PAGE, 2 * PAGE), 0);
	is_mapped("ours is wiped", other, at + 2 * PAGE, "rw-p wiped");
	is_mapped("what is before it is not", other, at, "rw-p");
	is_mapped("what is after it is not", other, at + 3 * PAGE, "rw-p");
	close(fd);
	kill(other, SIGKILL);
	waitpid(other, NULL, 0);
}

/* CAP_SYS_RESOURCE lifts all limits. */
static void be_limited(void)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct caps[2];

	syscall(SYS_capget, &head, caps);
	caps[0].effective &= ~(1u << CAP_SYS_RESOURCE);
	if (syscall(SYS_capset, &head, caps))
		perror("capset");
}

/* More than a session may have, piece by piece. */
static void too_much(pid_t pid)
{
	int fd = session(), got = 0;

	be_limited();
	begin(fd, pid);
	for (uint64_t i = 1; !got && i < 1u << 12; i++)
		got = map(fd, ROOM + i * KI_PROCESS_BYTES, KI_PROCESS_BYTES);
	is("what a session may have has an end", got, WITH(EDQUOT, KI_R_LIMIT_PAGES));
	close(fd);
	is("and the process has not ended", waitpid(pid, NULL, WNOHANG), 0);
}

static void ended(pid_t pid)
{
	int fd = session();

	begin(fd, pid);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	is("of one that has ended", map(fd, ROOM, PAGE), WITH(ESRCH, KI_R_PROCESS_GONE));
	close(fd);
}

int main(void)
{
	pid_t pid;

	found = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid = child();
	right(pid);
	neighbours();
	too_much(pid);
	ended(pid);
	return failures != 0;
}
