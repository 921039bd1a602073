// SPDX-License-Identifier: GPL-2.0-only
/* Processes: what the driver refuses; and what only the library does, on the host. */
#include <linux/capability.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "reasons/reasons.h"

#define INIT	 1
#define KTHREADD 2

static int open_process(int fd, pid_t pid, unsigned int *reason)
{
	struct ki_process_open r = {.size = sizeof(r), .pid = pid};
	int ret = ioctl(fd, KI_IOC_PROCESS, &r);

	*reason = r.reason;
	return ret;
}

static void ask_process(struct answer *a, pid_t pid)
{
	int fd = device_open(), ret;
	unsigned int reason;

	ret = open_process(fd, pid, &reason);
	answer_of(a, ret, reason);
	close(fd);
}

static void ask_thread(struct answer *a)
{
	ask_process(a, KTHREADD);
}
ASKED(PROCESS_GONE, ask_thread)

static void open_init(struct answer *a)
{
	ask_process(a, INIT);
}

static void ask_others(struct answer *a)
{
	as_nobody(CAP_PERFMON, open_init, a);
}
ASKED(PROCESS_PERMISSION, ask_others)

/* Memory that is no text, of this process. */
static void ask_stack(struct answer *a)
{
	struct ki_process_edit edit = {.len = 1, .now = {0xcc}};
	struct ki_process_edits r = {.size = sizeof(r), .count = 1, .edits = (uintptr_t)&edit};
	int fd = device_open(), ret;
	unsigned int reason;

	edit.addr = edit.via = (uintptr_t)&edit;
	if (open_process(fd, getpid(), &reason))
		die("this process", ki_reason_tag(reason));
	ret = ioctl(fd, KI_IOC_PROCESS_EDIT, &r);
	answer_of(a, ret, r.reason);
	close(fd);
}
ASKED(PROCESS_TEXT, ask_stack)

IN_SUITE(PROCESS_32BIT, "test/process/ends.sh")
IN_SUITE(PROCESS_TRACED, "test/process/ends.sh")
IN_SUITE(PROCESS_SECCOMP, "test/process/ends.sh")
IN_SUITE(PROCESS_BUSY, "test/process/ends.sh")
IN_SUITE(PROCESS_STUCK, "test/process/ends.sh")
IN_SUITE(PROCESS_ROOM, "test/process/ends.sh")
IN_SUITE(NO_TRAP, "test/unit/process/test_judge.c")
IN_SUITE(SHADOW_STACK, "test/unit/process/test_judge.c")
IN_SUITE(NOT_IN_PROCESS, "test/unit/process/test_judge.c")
