// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stacks of interrupts and NMIs, which may have come to anything, to patches too: none has a frame
 * in the driver, each goes through the interrupt's entry and ends where the kernel was entered.
 */
#include "stacks.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void load(double seconds)
{
	static char zeros[512];
	struct timespec a, b;
	int fd = open("/dev/zero", O_RDONLY);

	clock_gettime(CLOCK_MONOTONIC, &a);
	do {
		for (int i = 0; i < 200; i++)
			if (pread(fd, zeros, sizeof(zeros), 0) < 0)
				die("/dev/zero", "it cannot be read");
		clock_gettime(CLOCK_MONOTONIC, &b);
	} while ((double)(b.tv_sec - a.tv_sec) + 1e-9 * (double)(b.tv_nsec - a.tv_nsec) < seconds);
	close(fd);
}

static bool goes_through(struct session *s, const struct ki_stack *st, const char *const *names)
{
	for (; *names; names++)
		for (uint32_t i = 0; i < st->n; i++)
			if (is_in(s, st->addrs[i], *names))
				return true;
	return false;
}

struct verdict {
	unsigned int good, none, deep, kthreads;
	char why[160];
};

static struct verdict look(struct session *s, const char *const *through)
{
	struct verdict v = {0};
	struct ki_stack st;

	for (unsigned int i = 0; i < nseen; i++) {
		const char *why = "there is none";

		if (stack_of(s, seen[i].v[0], &st))
			why = goes_through(s, &st, through) ? wrong_with(s, &st)
							    : "not through the entry";
		else
			v.none++;
		if (why && !*v.why)
			snprintf(v.why, sizeof(v.why), "%s (pid %llu)", why, (ull)seen[i].v[1]);
		v.good += !why;
		v.deep += !why && st.n > 8;
		v.kthreads += !seen[i].v[1] && !seen[i].v[2];
	}
	return v;
}

static void put_both(struct session *s, const char *function)
{
	begin(s);
	value(s, ki_expr_stack(s->s, ki_stacks_number(s->stacks), 0, false));
	value(s, ki_expr_fact(s->s, KI_FACT_PID));
	value(s, ki_expr_stack(s->s, ki_stacks_number(s->stacks), 0, true));
	put(s, function, NULL);
	plan_apply(s->plan, s->t);
}

static unsigned int idle(void)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < nseen; i++)
		n += !seen[i].v[1];
	return n;
}

void test_contexts(void)
{
	static const char *const through[] = {"asm_sysvec_apic_timer_interrupt", NULL};
	struct session s;
	struct verdict v;

	session_open(&s, KI_STACK_FRAMES, 16384);
	put_both(&s, "hrtimer_interrupt");
	load(4);
	read_all(&s);
	v = look(&s, through);
	report("interrupts", nseen > 100 && v.good == nseen && v.deep > 10,
	       "%u of %u stacks right, %u of more than 8 frames; %s", v.good, nseen, v.deep, v.why);
	for (int i = 0; i < 400; i++) { /* until one has come to it */
		usleep(300000);
		read_all(&s);
		if (idle())
			break;
	}
	v = look(&s, through);
	report("no user's stack of the idle thread", idle() && v.kthreads == idle(), "%u of %u",
	       v.kthreads, idle());
	session_close(&s);
}

/* An idle CPU says nothing of itself: somebody runs on the other one. */
static pid_t keep_busy(void)
{
	pid_t pid = fork();

	if (pid < 0)
		die("fork", "no child");
	if (!pid)
		on_cpu(1);
	while (!pid)
		load(1);
	return pid;
}

void test_nmi(void)
{
	static const char *const through[] = {"asm_exc_nmi", "end_repeat_nmi", NULL};
	struct session s;
	struct verdict v;
	pid_t busy;
	int fd;

	session_open(&s, KI_STACK_FRAMES, 1024);
	put_both(&s, "show_regs"); /* of the CPU that an NMI has come to */
	busy = keep_busy();
	on_cpu(0);
	fd = open("/proc/sysrq-trigger", O_WRONLY);
	/* he may not run yet, or the host may keep his CPU */
	for (int i = 0; i < 60 && ki_ring_records(s.ring) < 5; i++) {
		if (write(fd, "l", 1) != 1)
			die("sysrq", "it cannot be written");
		load(0.3);
	}
	close(fd);
	on_cpu(-1);
	kill(busy, SIGKILL);
	waitpid(busy, NULL, 0);
	read_all(&s);
	v = look(&s, through);
	report("NMIs", nseen >= 4 && v.good == nseen, "%u of %u stacks right; %s", v.good, nseen,
	       v.why);
	session_close(&s);
}
