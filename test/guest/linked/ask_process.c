// SPDX-License-Identifier: GPL-2.0-only
/*
 * ask_process: what the driver says to requests for processes, right and wrong ones. The process is
 * a child of ours, which does nothing but call a function; so addresses are the same here.
 */
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ask.h"

/* One instruction of five bytes, then one of one. */
int asked(void);
__asm__(".text; .p2align 4; .globl asked; .type asked, @function\n"
	"asked: movl $1, %eax; nop; ret; .size asked, . - asked");

static uint8_t *shared;	  /* text that is not the process's alone */
static uint16_t word = 5; /* a semaphore, as somebody else has left it */
static uint64_t *counted; /* what asked() has returned, summed up; by the child */

static int memory(int fd, uint64_t bytes)
{
	struct ki_process_memory req = {.size = sizeof(req), .bytes = bytes};
	int ret = ioctl(fd, KI_IOC_PROCESS_MEMORY, &req);

	return say(ret, req.reason);
}

static int map(int fd, uint64_t addr, uint64_t len, uint64_t offset)
{
	struct ki_process_map req = {.size = sizeof(req),
				     .flags = KI_PROCESS_CODE,
				     .addr = addr,
				     .len = len,
				     .offset = offset};
	int ret = ioctl(fd, KI_IOC_PROCESS_MAP, &req);

	return say(ret, req.reason);
}

static int edit(int fd, const struct ki_process_edit *v, uint32_t n)
{
	struct ki_process_edits req = {.size = sizeof(req), .count = n, .edits = (uintptr_t)v};
	int ret = ioctl(fd, KI_IOC_PROCESS_EDIT, &req);

	return say(ret, req.reason);
}

static int release(int fd, const uint32_t *v, uint32_t n)
{
	struct ki_process_release req = {.size = sizeof(req), .count = n, .numbers = (uintptr_t)v};
	int ret = ioctl(fd, KI_IOC_PROCESS_RELEASE, &req);

	return say(ret, req.reason);
}

static struct ki_process_edit breakpoint(const uint8_t *at, uint64_t via)
{
	return (struct ki_process_edit){
		.addr = (uintptr_t)at, .via = via, .len = 1, .orig = {*at}, .now = {0xcc}};
}

static struct ki_process_edit jump(const uint8_t *at, uint64_t via)
{
	struct ki_process_edit e = {.addr = (uintptr_t)at, .via = via, .len = 5, .now = {0xe9}};
	int32_t field = (int32_t)(via - (e.addr + 5));

	memcpy(e.orig, at, 5);
	memcpy(e.now + 1, &field, 4);
	return e;
}

static struct ki_process_edit semaphore(uint64_t at)
{
	return (struct ki_process_edit){.addr = at, .len = 2, .flags = KI_PROCESS_SEMAPHORE};
}

/* The child's. */
static bool peek(pid_t pid, const void *at, void *to, size_t n)
{
	char path[32];
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	got = pread(fd, to, n, (off_t)(uintptr_t)at);
	close(fd);
	return got == (ssize_t)n;
}

static int word_of(pid_t pid)
{
	uint16_t value;

	return peek(pid, &word, &value, sizeof(value)) ? value : -1;
}

/* How many of the function's first bytes are other ones than ours. */
static int changed(pid_t pid)
{
	uint8_t there[6];
	int n = 0;

	if (!peek(pid, (void *)asked, there, sizeof(there)))
		return -1;
	for (size_t i = 0; i < sizeof(there); i++)
		n += there[i] != ((uint8_t *)asked)[i];
	return n;
}

static pid_t child(void)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;)
		__atomic_fetch_add(counted, (uint64_t)asked(), __ATOMIC_RELAXED);
}

static void who(pid_t pid)
{
	int fd = session();
	pid_t gone = fork();

	if (!gone)
		_exit(0);
	waitpid(gone, NULL, 0);
	is("memory before there is a process", memory(fd, PAGE), WITH(EINVAL, KI_R_BAD_REQUEST));
	is("a process that is gone", begin(fd, gone), WITH(ESRCH, KI_R_PROCESS_GONE));
	is("a thread of the kernel", begin(fd, 2), WITH(ESRCH, KI_R_PROCESS_GONE));
	is("a number below 0", begin(fd, -5), WITH(ESRCH, KI_R_PROCESS_GONE));
	is("a process", begin(fd, pid), 0);
	is("another in the same session", begin(fd, getpid()), WITH(EEXIST, 0));
	close(fd);
}

static void maps(pid_t pid, uint64_t room)
{
	int fd = session();

	begin(fd, pid);
	is("mapping before there is memory", map(fd, room, PAGE, 0),
	   WITH(EINVAL, KI_R_BAD_REQUEST));
	is("no memory", memory(fd, 0), WITH(EINVAL, KI_R_BAD_REQUEST));
	is("half a page", memory(fd, PAGE / 2), WITH(EINVAL, KI_R_BAD_REQUEST));
	is("too much", memory(fd, KI_PROCESS_BYTES + PAGE), WITH(EINVAL, KI_R_BAD_REQUEST));
	is("two pages", memory(fd, 2 * PAGE), 0);
	is("two more", memory(fd, 2 * PAGE), WITH(EEXIST, 0));
	is("the first page", map(fd, 0, PAGE, 0), WITH(EINVAL, KI_R_BAD_REQUEST));
	is("above all", map(fd, -PAGE, PAGE, 0), WITH(EINVAL, KI_R_BAD_REQUEST));
	is("no whole pages", map(fd, room, 100, 0), WITH(EINVAL, KI_R_BAD_REQUEST));
	is("more than there is", map(fd, room, 2 * PAGE, PAGE), WITH(EINVAL, KI_R_BAD_REQUEST));
	is("over what is there", map(fd, (uintptr_t)asked & -PAGE, PAGE, 0), WITH(EEXIST, 0));
	is("where there is room", map(fd, room, 2 * PAGE, 0), 0);
	is("there again", map(fd, room, PAGE, 0), WITH(EEXIST, 0));
	close(fd);
}

/* A patch that does the same, and adds 1000. */
static void make_patch(int fd, uint64_t at)
{
	uint8_t code[] = {0xb8, 0xe9, 0x03, 0, 0, 0xc3};
	uint8_t *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, KI_MAP_PROCESS);

	if (page == MAP_FAILED) {
		perror("mmap");
		exit(1);
	}
	memcpy(page, code, sizeof(code));
	munmap(page, PAGE);
	is("the patch is mapped", map(fd, at, PAGE, 0), 0);
}

/* Do all calls come by the patch, or none? In half a second of them. */
static bool patched(bool is)
{
	uint64_t before, after;

	usleep(100000);
	before = *counted;
	usleep(200000);
	after = *counted;
	return is ? (after - before) / 1001 > 0 && (after - before) % 1001 == 0 : after > before;
}

static void wrong_edits(int fd, uint64_t via)
{
	const uint8_t *f = (uint8_t *)asked;
	struct ki_process_edit e[2] = {jump(f, via), breakpoint(f + 5, via)},
			       swapped[2] = {e[1], e[0]};
	struct ki_process_edit over[2] = {e[0], breakpoint(f + 4, via)}, x = e[0];

	is("out of order", edit(fd, swapped, 2), WITH(EINVAL, KI_R_BAD_REQUEST));
	is("over each other", edit(fd, over, 2), WITH(EINVAL, KI_R_BAD_REQUEST));
	is("none", edit(fd, e, 0), WITH(EINVAL, KI_R_BAD_REQUEST));
	is("too many", edit(fd, e, KI_BATCH_WINDOWS + 1), WITH(E2BIG, KI_R_TOO_MANY));
	x.len = 3;
	is("of three bytes", edit(fd, &x, 1), WITH(EINVAL, KI_R_BAD_REQUEST));
	x = jump(f, via);
	x.via = 1ull << 63;
	is("to the kernel", edit(fd, &x, 1), WITH(EINVAL, KI_R_BAD_REQUEST));
	x = jump(f, via);
	x.now[0] = 0x90;
	is("no jump", edit(fd, &x, 1), WITH(EINVAL, KI_R_BAD_REQUEST));
	x.now[0] = 0xe9;
	x.flags = KI_PROCESS_HIT;
	is("a jump that the kernel is told of", edit(fd, &x, 1), WITH(EINVAL, KI_R_BAD_REQUEST));
	x.flags = KI_PROCESS_HOLD;
	is("a jump that holds", edit(fd, &x, 1), WITH(EINVAL, KI_R_BAD_REQUEST));
	x = breakpoint(f, via);
	x.flags = KI_PROCESS_HOLD | KI_PROCESS_HIT;
	is("one that holds and tells", edit(fd, &x, 1), WITH(EINVAL, KI_R_BAD_REQUEST));
	x = breakpoint(f, via);
	x.flags = 0x8;
	is("what is no flag", edit(fd, &x, 1), WITH(EINVAL, KI_R_BAD_REQUEST));
	x = semaphore((uintptr_t)&word);
	x.via = via;
	is("a semaphore that leads somewhere", edit(fd, &x, 1), WITH(EINVAL, KI_R_BAD_REQUEST));
	x = semaphore((uintptr_t)&word + 1);
	is("one at an odd address", edit(fd, &x, 1), WITH(EINVAL, KI_R_BAD_REQUEST));
	x = semaphore((uintptr_t)&word);
	x.flags |= KI_PROCESS_HIT;
	is("one that the kernel is told of", edit(fd, &x, 1), WITH(EINVAL, KI_R_BAD_REQUEST));
	x = semaphore(((uintptr_t)f + 1) & ~1ull);
	is("one in text", edit(fd, &x, 1), WITH(EFAULT, KI_R_PROCESS_TEXT));
	x = semaphore((uintptr_t)counted);
	is("one that is shared", edit(fd, &x, 1), WITH(EFAULT, KI_R_PROCESS_TEXT));
	x = breakpoint(shared, via);
	is("text that is shared", edit(fd, &x, 1), WITH(EFAULT, KI_R_PROCESS_TEXT));
	x = breakpoint((uint8_t *)&failures, via);
	is("data", edit(fd, &x, 1), WITH(EFAULT, KI_R_PROCESS_TEXT));
	e[1].orig[0] ^= 1;
	is("other bytes than expected", edit(fd, e, 2), WITH(ESTALE, KI_R_BYTES_CHANGED));
	is("then nothing has changed", patched(false), true);
}

static void edits(pid_t pid, uint64_t room, bool by_breakpoint)
{
	const uint8_t *f = (uint8_t *)asked;
	struct ki_process_edit e = by_breakpoint ? breakpoint(f, room) : jump(f, room);
	int fd = session();

	begin(fd, pid);
	memory(fd, PAGE);
	make_patch(fd, room);
	if (by_breakpoint)
		wrong_edits(fd, room);
	is("the text is changed", edit(fd, &e, 1), 0);
	is("all calls go there", patched(true), true);
	is("a second change in one session", edit(fd, &e, 1), WITH(EEXIST, 0));
	is("in another one the bytes are others", ({
		   int other = session(), got;

		   begin(other, pid);
		   got = edit(other, &e, 1);
		   close(other);
		   got;
	   }),
	   WITH(ESTALE, KI_R_BYTES_CHANGED));
	close(fd);
	is("behind that none does", patched(false), true);
	is("and it has not ended", waitpid(pid, NULL, WNOHANG), 0);
}

/* A place of which the kernel is told, for two sessions: the last one gives it back. */
static void together(pid_t pid, uint64_t room)
{
	struct ki_process_edit e[2] = {breakpoint((uint8_t *)asked, room),
				       semaphore((uintptr_t)&word)};
	int fd[2] = {session(), session()};

	e[0].flags = KI_PROCESS_HIT;
	for (int i = 0; i < 2; i++) {
		begin(fd[i], pid);
		memory(fd[i], PAGE);
		make_patch(fd[i], room + (uint64_t)i * PAGE);
		e[0].via = room + (uint64_t)i * PAGE;
		is("a place of which the kernel is told", edit(fd[i], e, 2), 0);
	}
	is("all calls go to a patch", patched(true), true);
	is("both have counted the semaphore", word_of(pid), 7);
	close(fd[0]);
	is("one has gone, all calls go to a patch", patched(true), true);
	is("and the semaphore is one less", word_of(pid), 6);
	close(fd[1]);
	is("both have gone, none does", patched(false), true);
	is("the semaphore is what it was", word_of(pid), 5);
	is("and the process has not ended", waitpid(pid, NULL, WNOHANG), 0);
}

static bool all_return(uint64_t each)
{
	uint64_t before, after;

	usleep(100000);
	before = *counted;
	usleep(200000);
	after = *counted;
	return after > before && (after - before) % each == 0;
}

/* Two places and a semaphore, of which the first place goes before the end. */
static void parts(pid_t pid, uint64_t room)
{
	const uint8_t *f = (uint8_t *)asked;
	struct ki_process_edit e[3] = {jump(f, room), breakpoint(f + 5, room + PAGE),
				       semaphore((uintptr_t)&word)};
	const struct ki_process_edit theirs = breakpoint(f, room + 2 * PAGE);
	const uint32_t turned[] = {1, 0}, twice[] = {0, 0}, first[] = {0}, none[] = {3},
		       all[] = {0, 1}, word_too[] = {0, 2};
	int fd = session(), other = session();

	is("a part before there is a process", release(fd, first, 1),
	   WITH(EINVAL, KI_R_BAD_REQUEST));
	begin(fd, pid);
	is("before there is any", release(fd, first, 1), WITH(EINVAL, KI_R_BAD_REQUEST));
	memory(fd, PAGE);
	make_patch(fd, room);
	map(fd, room + PAGE, PAGE, 0);
	is("two places and a semaphore", edit(fd, e, 3), 0);
	is("a part: none", release(fd, first, 0), WITH(EINVAL, KI_R_BAD_REQUEST));
	is("too many", release(fd, first, KI_BATCH_WINDOWS + 1), WITH(E2BIG, KI_R_TOO_MANY));
	is("out of order", release(fd, turned, 2), WITH(EINVAL, KI_R_BAD_REQUEST));
	is("one twice", release(fd, twice, 2), WITH(EINVAL, KI_R_BAD_REQUEST));
	is("one that there is not", release(fd, none, 1), WITH(EINVAL, KI_R_BAD_REQUEST));
	is("a semaphore", release(fd, word_too, 2), WITH(EINVAL, KI_R_BAD_REQUEST));
	is("then nothing has changed", changed(pid) > 3, true);
	is("the first place", release(fd, first, 1), 0);
	is("the other one stands", changed(pid), 1);
	is("and all calls go there", all_return(1001), true);
	is("the first one again", release(fd, first, 1), 0);
	is("the semaphore is counted", word_of(pid), 6);
	begin(other, pid);
	memory(other, PAGE);
	make_patch(other, theirs.via);
	is("there another session puts its own", edit(other, &theirs, 1), 0);
	is("and the calls come to that", all_return(1001), true);
	is("both", release(fd, all, 2), 0);
	is("the other session's stands", changed(pid), 1);
	close(fd);
	is("when this one has ended, too", changed(pid), 1);
	is("and the semaphore is what it was", word_of(pid), 5);
	close(other);
	is("all is back", changed(pid), 0);
	is("and the process has not ended", waitpid(pid, NULL, WNOHANG), 0);
}

static int go(int fd)
{
	struct ki_process_go req = {.size = sizeof(req)};
	int ret = ioctl(fd, KI_IOC_PROCESS_GO, &req);

	return say(ret, req.reason);
}

static int waits(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	return poll(&p, 1, 1000);
}

/* A place where the thread waits, at each call. */
static void holds(pid_t pid, uint64_t room)
{
	struct ki_process_edit e = breakpoint((uint8_t *)asked, room);
	int fd = session();
	uint64_t before;

	e.flags = KI_PROCESS_HOLD;
	is("to let go before there is a process", go(fd), WITH(EINVAL, KI_R_BAD_REQUEST));
	begin(fd, pid);
	memory(fd, PAGE);
	make_patch(fd, room);
	is("a place that holds", edit(fd, &e, 1), 0);
	is("the thread waits there", waits(fd), 1);
	before = *counted;
	usleep(300000);
	is("and does nothing", *counted == before, true);
	is("it is let go", go(fd), 0);
	is("and waits at its next call", waits(fd), 1);
	is("having done one by the patch", (int)(*counted - before), 1001);
	usleep((KI_PROCESS_HOLD_MS + 500) * 1000);
	is("it does not wait for ever", *counted > before + 1001, true);
	is("it waits again", waits(fd), 1);
	close(fd);
	is("it goes when the session ends", patched(false), true);
	is("and has not ended", waitpid(pid, NULL, WNOHANG), 0);
	fd = session();
	begin(fd, pid);
	memory(fd, PAGE);
	make_patch(fd, room + PAGE);
	e.via = room + PAGE;
	edit(fd, &e, 1);
	is("it waits once more", waits(fd), 1);
	is("to let go where none waits", ({
		   kill(pid, SIGKILL);
		   waitpid(pid, NULL, 0);
		   go(fd);
	   }),
	   WITH(ESRCH, 0));
	close(fd);
}

/* What is asked for a process that has ended. */
static void ended(void)
{
	pid_t pid = child();
	const uint8_t *f = (uint8_t *)asked;
	struct ki_process_edit e = breakpoint(f, (uintptr_t)f);
	int fd = session();

	begin(fd, pid);
	memory(fd, PAGE);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	is("mapping into one that has ended", map(fd, 1ull << 32, PAGE, 0),
	   WITH(ESRCH, KI_R_PROCESS_GONE));
	is("changing it", edit(fd, &e, 1), WITH(ESRCH, KI_R_PROCESS_GONE));
	close(fd);
}

int main(void)
{
	uint64_t room = ((uintptr_t)asked & -PAGE) - (64ull << 20);
	pid_t pid;

	counted = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	shared = mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_SHARED | MAP_ANONYMOUS,
		      -1, 0);
	pid = child();
	who(pid);
	maps(pid, room);
	edits(pid, room + (1 << 20), true);
	edits(pid, room + (2 << 20), false);
	together(pid, room + (3 << 20));
	parts(pid, room + (5 << 20));
	holds(pid, room + (4 << 20));
	ended();
	return failures != 0;
}
