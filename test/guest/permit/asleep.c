// SPDX-License-Identifier: GPL-2.0-only
/*
 * A request that sleeps in the driver until its page is brought: userfaultfd tells when it has
 * asked.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "permit/permit.h"

#define LONGEST 60000 /* milliseconds */

static struct {
	struct ki_splice request;
	pthread_t thread;
	void *page;
	int fd, faults, error;
} asleep;

static void *ask(void *unused)
{
	(void)unused;
	asleep.error = ioctl(asleep.fd, KI_IOC_SPLICE, &asleep.request) ? errno : 0;
	return NULL;
}

void asleep_begin(int fd)
{
	struct uffdio_api api = {.api = UFFD_API};
	struct uffdio_register range = {.mode = UFFDIO_REGISTER_MODE_MISSING};
	struct pollfd told = {.events = POLLIN};
	static struct ki_chunk chunk;
	static struct ki_copy copy;
	struct uffd_msg msg;

	asleep.faults = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	asleep.page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	range.range.start = (uintptr_t)asleep.page;
	range.range.len = PAGE;
	if (asleep.faults < 0 || asleep.page == MAP_FAILED ||
	    ioctl(asleep.faults, UFFDIO_API, &api) || ioctl(asleep.faults, UFFDIO_REGISTER, &range))
		die("userfaultfd", strerror(errno));
	asleep.fd = fd;
	asleep.request = (struct ki_splice){.size = sizeof(asleep.request),
					    .windows = (uintptr_t)asleep.page,
					    .copies = (uintptr_t)&copy,
					    .chunks = (uintptr_t)&chunk,
					    .nwindows = 1,
					    .ncopies = 1,
					    .nchunks = 1};
	if (pthread_create(&asleep.thread, NULL, ask, NULL))
		die("pthread_create", "failed");
	told.fd = asleep.faults;
	if (poll(&told, 1, LONGEST) != 1 || read(asleep.faults, &msg, sizeof(msg)) != sizeof(msg) ||
	    msg.event != UFFD_EVENT_PAGEFAULT)
		die("userfaultfd", "not a page fault");
}

int asleep_end(unsigned int *reason)
{
	struct uffdio_zeropage zero = {.range = {.start = (uintptr_t)asleep.page, .len = PAGE}};

	if (ioctl(asleep.faults, UFFDIO_ZEROPAGE, &zero))
		die("userfaultfd", strerror(errno));
	pthread_join(asleep.thread, NULL);
	close(asleep.faults);
	*reason = asleep.request.reason;
	return asleep.error;
}
