// SPDX-License-Identifier: GPL-2.0-only
/*
 * A test's build only (KI_TEST_FAIL): at the n-th step from now on of putting in, taking out and
 * giving back, something happens, once.
 *
 *	ki_step_at	n; counts down, and at 0 it has happened
 *	ki_step_pid	the process whose steps count, and those of our own threads
 *	ki_step_do	a signal's number: that is sent to it; 0: the step stops there until 1 is
 *			written to ki_step_go
 *	ki_step_name	the step at which it happened
 *	ki_step_stopped	1 while it stops
 *
 * No step is where one may not sleep.
 */
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/pid.h>
#include <linux/sched/signal.h>

#include "ki.h"

#define KI_STEP_MS   10
#define KI_STEP_LONG (120 * 1000 / KI_STEP_MS) /* the test has forgotten us */

static int ki_step_at, ki_step_do, ki_step_pid, ki_step_go, ki_step_stopped;
static char *ki_step_name = "none";
module_param(ki_step_at, int, 0600);
module_param(ki_step_do, int, 0600);
module_param(ki_step_pid, int, 0600);
module_param(ki_step_go, int, 0600);
module_param(ki_step_stopped, int, 0400);
module_param(ki_step_name, charp, 0400);

static void stop(void)
{
	int i;

	WRITE_ONCE(ki_step_go, 0);
	WRITE_ONCE(ki_step_stopped, 1);
	for (i = 0; i < KI_STEP_LONG && !READ_ONCE(ki_step_go); i++)
		msleep(KI_STEP_MS);
	WRITE_ONCE(ki_step_stopped, 0);
}

static void send(int sig)
{
	struct pid *pid = find_get_pid(ki_step_pid);

	if (pid)
		kill_pid(pid, sig, 1);
	put_pid(pid);
}

void ki_step(const char *name)
{
	might_sleep();
	if (!(current->flags & PF_KTHREAD) && task_tgid_vnr(current) != ki_step_pid)
		return;
	if (READ_ONCE(ki_step_at) <= 0 || --ki_step_at)
		return;
	ki_step_name = (char *)name;
	if (ki_step_do)
		send(ki_step_do);
	else
		stop();
}
