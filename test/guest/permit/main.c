// SPDX-License-Identifier: GPL-2.0-only
/*
 * permit opens [read|write]	say with which errno the device opens so
 * permit reads			what a descriptor for reading may do, and what not
 * permit sessions		open as many as there are
 * permit limits NAME SESSION USER what a session and a user get of each kind of which they may have
 *				so much
 * permit memory GROUP		what is taken is charged to this control group
 * permit exhaust GROUP	take all that there is, in this control group
 * permit LEVEL			raise lockdown to integrity, or from there to confidentiality: what
 *				sessions may do that were there before
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "permit/permit.h"

#define LOCKDOWN "/sys/kernel/security/lockdown"

static int open_for(const char *how)
{
	return open(KI_DEVICE, (strcmp(how, "read") ? O_RDWR : O_RDONLY) | O_CLOEXEC);
}

static int opens(const char *how)
{
	int fd = open_for(how);

	puts(fd < 0 ? strerrorname_np(errno) : "OK");
	return 0;
}

static int reads(void)
{
	int fd = open_for("read");

	if (fd < 0)
		die(KI_DEVICE, strerror(errno));
	requests_try("for reading", fd, TELLS, 0, 0);
	requests_try("for reading", fd, READS, 0, 0);
	requests_try("for reading", fd, CHANGES, EBADF, KI_R_READ_ONLY);
	requests_try("for reading", fd, TAKES_OUT, EBADF, KI_R_READ_ONLY);
	return report_status();
}

struct session {
	struct ki_target *t;
	struct ki_plan *plan;
};

static void session_begin(struct session *s)
{
	struct ki_err err = {0};

	if (ki_target_new_live(&s->t, &err))
		die("open", err.msg);
	s->plan = plan_new();
}

/* An empty statement: it is there, and does nothing. */
static void session_install(struct session *s)
{
	struct ki_snippet *sn = snippet_new();

	ki_snippet_body(sn, ki_stmt_eval(sn, ki_expr_helper(sn, KI_HELPER_NANOTIME, NULL, 0)));
	entry_put(s->t, s->plan, CALLED, sn, NULL);
	plan_apply(s->plan, s->t);
}

static unsigned int windows(int fd)
{
	struct ki_info info = {.size = sizeof(info)};

	return ioctl(fd, KI_IOC_INFO, &info) ? UINT32_MAX : info.windows;
}

static void raise_to(const char *level)
{
	int fd = open(LOCKDOWN, O_WRONLY);

	if (fd < 0 || write(fd, level, strlen(level)) < 0)
		die(LOCKDOWN, strerror(errno));
	close(fd);
}

/* Two sessions are in: one is taken out by a request, one by closing. */
static int integrity(void)
{
	int look = open_for("read"), sleepy = open_for("write"), error;
	unsigned int reason;
	struct session a, b;

	session_begin(&a);
	session_begin(&b);
	session_install(&a);
	session_install(&b);
	report("both are in", windows(look) == 1, "%u windows", windows(look));
	asleep_begin(sleepy);
	raise_to("integrity");
	error = asleep_end(&reason);
	report("a request that slept meanwhile", error == EPERM && reason == KI_R_LOCKDOWN,
	       "%s, reason %u", strerror(error), reason);
	requests_try("in integrity mode", ki_target_fd(a.t), TELLS, 0, 0);
	requests_try("in integrity mode", ki_target_fd(a.t), READS, 0, 0);
	requests_try("in integrity mode", ki_target_fd(a.t), CHANGES, EPERM, KI_R_LOCKDOWN);
	requests_try("for reading, in integrity mode", look, CHANGES, EPERM, KI_R_LOCKDOWN);
	report("they stay in", windows(look) == 1, "%u windows", windows(look));
	requests_try("in integrity mode", ki_target_fd(a.t), TAKES_OUT, 0, 0);
	ki_target_free(b.t);
	report("both are out", windows(look) == 0, "%u windows", windows(look));
	return report_status();
}

static int confidentiality(void)
{
	int look = open_for("read");

	if (look < 0)
		die(KI_DEVICE, strerror(errno));
	raise_to("confidentiality");
	requests_try("in confidentiality mode", look, TELLS, 0, 0);
	requests_try("in confidentiality mode", look, READS, EPERM, 0);
	requests_try("in confidentiality mode", look, CHANGES, EPERM, KI_R_LOCKDOWN);
	return report_status();
}

/* Taken until there are no more. */
static int sessions(void)
{
	int n = 0;

	while (n < 64 && open_for("write") >= 0)
		n++;
	printf("%d %s\n", n, n < 64 ? strerrorname_np(errno) : "OK");
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (!strcmp(what, "opens") && argc == 3)
		return opens(argv[2]);
	if (!strcmp(what, "reads"))
		return reads();
	if (!strcmp(what, "sessions"))
		return sessions();
	if (!strcmp(what, "limits") && argc == 5)
		return limits_reach(argv[2], (unsigned int)atoi(argv[3]),
				    (unsigned int)atoi(argv[4]));
	if (!strcmp(what, "memory") && argc == 3)
		return limits_memory(argv[2]);
	if (!strcmp(what, "exhaust") && argc == 3)
		return exhaust(argv[2]);
	if (!strcmp(what, "integrity"))
		return integrity();
	if (!strcmp(what, "confidentiality"))
		return confidentiality();
	fputs("usage: permit opens read|write; reads; sessions; limits NAME SESSION USER; memory GROUP; exhaust GROUP; integrity; confidentiality\n",
	      stderr);
	return 2;
}
