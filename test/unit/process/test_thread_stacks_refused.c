// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stacks that cannot be read: of a process that has ended, is another program, is traced, or is
 * not ours to look at.
 */
#include <sys/ptrace.h>

#include "stacks_fixture.h"

static void gone(void **state)
{
	const pid_t pid = begin(waits_read);
	struct reading k;

	(void)state;
	until_asleep(pid);
	look(&k, pid);
	assert_int_equal(again(&k), 0);
	kill(pid, SIGKILL);
	assert_int_equal(ended(pid), -1);
	assert_int_equal(again(&k), -ESRCH);
	assert_int_equal(k.all.n, 0);
	leave(&k);
}

BODY body_of_exec(void)
{
	waits_read();
	execl("/bin/sleep", "sleep", "100", (char *)NULL);
	return FAILED;
}

static void until_program(pid_t pid, const char *name)
{
	char path[40], is[32] = "";

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	for (int i = 0; i < 5000 && strncmp(is, name, strlen(name)); i++) {
		FILE *f = fopen(path, "re");

		assert_non_null(f);
		assert_non_null(fgets(is, sizeof(is), f));
		fclose(f);
		nap_ms(1);
	}
	assert_memory_equal(is, name, strlen(name));
}

static void another_program(void **state)
{
	const pid_t pid = begin(body_of_exec);
	struct reading k;

	(void)state;
	until_asleep(pid);
	look(&k, pid);
	assert_int_equal(again(&k), 0);
	give_byte();
	until_program(pid, "sleep");
	assert_int_equal(again(&k), -ESRCH);
	kill(pid, SIGKILL);
	ended(pid);
	leave(&k);
}

static void traced(void **state)
{
	const pid_t pid = begin(waits_read);
	struct reading k;

	(void)state;
	until_asleep(pid);
	look(&k, pid);
	assert_int_equal(ptrace(PTRACE_SEIZE, pid, NULL, NULL), 0);
	assert_int_equal(again(&k), -EBUSY);
	assert_int_equal(k.err.reason, KI_R_PROCESS_TRACED);
	assert_int_equal(ptrace(PTRACE_INTERRUPT, pid, NULL, NULL), 0);
	assert_int_equal(waitpid(pid, NULL, __WALL), pid);
	assert_int_equal(ptrace(PTRACE_DETACH, pid, NULL, NULL), 0);
	until_asleep(pid);
	is_in(&k, "waits_read", SYS_read);
	give_byte();
	assert_int_equal(ended(pid), 0);
	leave(&k);
}

/* Who opened it may no more. */
static void not_permitted(void **state)
{
	const pid_t pid = getuid() ? -1 : begin(waits_read);
	struct reading k;
	pid_t other;

	(void)state;
	if (pid < 0)
		skip();
	until_asleep(pid);
	look(&k, pid);
	other = fork();
	if (!other) {
		if (setresuid(65534, 65534, 65534))
			_exit(FAILED);
		_exit(again(&k) ? k.err.reason == KI_R_PROCESS_PERMISSION ? 0 : 1 : 2);
	}
	assert_int_equal(ended(other), 0);
	give_byte();
	assert_int_equal(ended(pid), 0);
	leave(&k);
}

static void no_process(void **state)
{
	struct ki_target *t;
	struct ki_stack_reader *r;
	struct ki_err err = {0};

	(void)state;
	assert_int_equal(ki_target_new_image("/proc/self/exe", &t, &err), 0);
	assert_int_equal(ki_stack_reader_new(t, &r, &err), -EINVAL);
	ki_target_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(gone),	     TEST(another_program), TEST(traced),
		TEST(not_permitted), TEST(no_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
