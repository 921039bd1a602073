// SPDX-License-Identifier: GPL-2.0-only
/*
 * A process that sleeps in a request: the page that the driver wants is asked of userfaultfd, and
 * the thread that is told so does nothing but pass it on. So it is known that the request is in the
 * driver, and asleep; and it stays so.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "locks/locks.h"

#define LONGEST 60000 /* milliseconds */

struct said {
	bool sleeps;
	int error;
};

struct asker {
	int (*request)(int fd, void *never);
	int fd, says;
	void *never;
};

static void say(int fd, struct said what)
{
	if (write(fd, &what, sizeof(what)) != sizeof(what))
		_exit(2);
}

static void *ask(void *arg)
{
	const struct asker *a = arg;

	say(a->says, (struct said){.error = a->request(a->fd, a->never)});
	return NULL;
}

static int never_page(void **page)
{
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	struct uffdio_api api = {.api = UFFD_API};
	struct uffdio_register range = {.mode = UFFDIO_REGISTER_MODE_MISSING};

	*page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	range.range.start = (uintptr_t)*page;
	range.range.len = PAGE;
	if (fd < 0 || *page == MAP_FAILED || ioctl(fd, UFFDIO_API, &api) ||
	    ioctl(fd, UFFDIO_REGISTER, &range))
		die("userfaultfd", strerror(errno));
	return fd;
}

__attribute__((noreturn)) static void be_asleep(struct asker *a)
{
	struct uffd_msg msg;
	pthread_t thread;
	int faults;

	a->fd = device_open();
	faults = never_page(&a->never);
	if (pthread_create(&thread, NULL, ask, a))
		die("pthread_create", "failed");
	if (read(faults, &msg, sizeof(msg)) != sizeof(msg) || msg.event != UFFD_EVENT_PAGEFAULT)
		die("userfaultfd", "not a page fault");
	say(a->says, (struct said){.sleeps = true});
	for (;;)
		pause();
}

bool sleeper_begin(struct sleeper *s, int (*request)(int fd, void *never))
{
	struct asker a = {.request = request};
	struct pollfd p = {.events = POLLIN};
	struct said said = {.error = ETIMEDOUT};
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		die("pipe", strerror(errno));
	s->pid = fork();
	a.says = ends[1];
	if (!s->pid)
		be_asleep(&a);
	close(ends[1]);
	s->says = p.fd = ends[0];
	if (s->pid < 0 || poll(&p, 1, LONGEST) != 1 ||
	    read(s->says, &said, sizeof(said)) != sizeof(said))
		said.sleeps = false;
	s->error = said.error;
	return said.sleeps;
}

bool sleeper_sleeps(const struct sleeper *s)
{
	struct pollfd p = {.fd = s->says, .events = POLLIN};

	return !poll(&p, 1, 0) && !waitpid(s->pid, NULL, WNOHANG);
}

bool sleeper_kill(struct sleeper *s)
{
	kill(s->pid, SIGKILL);
	close(s->says);
	for (int i = 0; i < LONGEST / 10; i++) {
		if (waitpid(s->pid, NULL, WNOHANG) == s->pid)
			return true;
		usleep(10000);
	}
	return false;
}
