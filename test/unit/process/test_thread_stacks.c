// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reading the stacks of a process leaves it as it was: system calls that its threads wait in go on
 * after any number of stops, with the result and in the time that they would have had. They have
 * their numbers, and the calls that they are made in keep their frames.
 */
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>

#include "stacks_fixture.h"

#define READINGS 20
#define LIMIT	 4000 /* ms, of calls that have one */

static uint64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

/* ---- calls: 0, or what went wrong ---- */

BODY waits_accept(void)
{
	return accept(m->listener, NULL, NULL) >= 0 ? 0 : FAILED;
}

BODY waits_futex(void)
{
	return syscall(SYS_futex, &m->word, FUTEX_WAIT, 0, NULL, NULL, 0) ? errno : 0;
}

BODY waits_epoll(void)
{
	struct epoll_event e;

	return epoll_wait(m->epoll, &e, 1, -1) == 1 ? 0 : errno;
}

BODY waits_epoll_masked(void)
{
	struct epoll_event e;
	sigset_t none, left;
	int ret;

	/* Its own mask is there again after it. */
	sigemptyset(&none);
	sigaddset(&none, SIGUSR1);
	sigprocmask(SIG_BLOCK, &none, NULL);
	sigemptyset(&none);
	ret = epoll_pwait(m->epoll, &e, 1, -1, &none) == 1 ? 0 : errno;
	sigprocmask(SIG_SETMASK, NULL, &left);
	return ret ? ret : sigismember(&left, SIGUSR1) ? 0 : FAILED;
}

BODY waits_semaphore(void)
{
	struct sembuf down = {.sem_op = -1};

	/* The C library makes another call of it. */
	return syscall(SYS_semop, m->sem, &down, 1) ? errno : 0;
}

BODY waits_poll(void)
{
	struct pollfd p = {.fd = m->pipe[0], .events = POLLIN};

	return poll(&p, 1, -1) == 1 ? 0 : errno;
}

/* With a limit: that of one wait, however often it has been stopped. */
static int in_time(uint64_t before, int ret, int wanted)
{
	const uint64_t took = now_ms() - before;

	if (ret != wanted)
		return errno ? errno : FAILED;
	return took >= LIMIT && took < LIMIT + LIMIT / 2 ? 0 : FAILED;
}

BODY limited_poll(void)
{
	const uint64_t before = now_ms();

	return in_time(before, poll(NULL, 0, LIMIT), 0);
}

BODY limited_sleep(void)
{
	const struct timespec ts = {.tv_sec = LIMIT / 1000, .tv_nsec = LIMIT % 1000 * 1000000};
	const uint64_t before = now_ms();

	return in_time(before, nanosleep(&ts, NULL), 0);
}

BODY limited_futex(void)
{
	const struct timespec ts = {.tv_sec = LIMIT / 1000, .tv_nsec = LIMIT % 1000 * 1000000};
	const uint64_t before = now_ms();
	const long ret = syscall(SYS_futex, &m->word, FUTEX_WAIT, 0, &ts, NULL, 0);

	return errno == ETIMEDOUT ? in_time(before, (int)ret, -1) : errno;
}

/* What the test does so that it ends. */
static void connect_to(void)
{
	const int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	assert_int_equal(connect(fd, (struct sockaddr *)&m->name, sizeof(m->name)), 0);
	close(fd);
}

static void wake(void)
{
	assert_int_equal(syscall(SYS_futex, &m->word, FUTEX_WAKE, 1, NULL, NULL, 0), 1);
}

static void put_up(void)
{
	struct sembuf up = {.sem_op = 1};

	assert_int_equal(semop(m->sem, &up, 1), 0);
}

struct wait {
	int (*body)(void);
	const char *name;
	int64_t call;
	void (*end)(void); /* NULL: it ends itself */
};

static const struct wait waits[] = {
	{waits_read, "waits_read", SYS_read, give_byte},
	{waits_accept, "waits_accept", SYS_accept, connect_to},
	{waits_futex, "waits_futex", SYS_futex, wake},
	{waits_epoll, "waits_epoll", SYS_epoll_wait, give_byte},
	{waits_epoll_masked, "waits_epoll_masked", SYS_epoll_pwait, give_byte},
	{waits_semaphore, "waits_semaphore", SYS_semop, put_up},
	{waits_poll, "waits_poll", SYS_poll, give_byte},
	{limited_poll, "limited_poll", SYS_poll, NULL},
	{limited_sleep, "limited_sleep", SYS_clock_nanosleep, NULL},
	{limited_futex, "limited_futex", SYS_futex, NULL},
};

static void calls_go_on(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(waits) / sizeof(*waits); i++) {
		const struct wait *w = &waits[i];
		const pid_t pid = begin(w->body);
		uint64_t frame = 0;
		struct reading k;
		int status;

		until_asleep(pid);
		look(&k, pid);
		for (int n = 0; n < READINGS; n++) {
			is_in(&k, w->name, w->call);
			assert_true(k.all.held_ns > 0 && k.all.held_ns == k.all.v[0].held_ns);
			if (n)
				assert_int_equal(call_of(&k, w->name)->frame, frame);
			frame = call_of(&k, w->name)->frame;
		}
		leave(&k);
		if (w->end) {
			until_asleep(pid);
			w->end();
		}
		status = ended(pid);
		drain();
		if (status)
			fail_msg("%s: %s", w->name, status == FAILED ? "result" : strerror(status));
	}
}

/* ---- instances of calls ---- */

BODY inner(int n)
{
	return waits_read() + n;
}

BODY middle(int n)
{
	volatile char room[64];

	room[0] = (char)n;
	return inner(n) + room[0] - n;
}

BODY body_of_calls(void)
{
	return inner(0) + inner(0) + middle(0);
}

static void instances(void **state)
{
	const pid_t pid = begin(body_of_calls);
	struct ki_stack_frame outer, inside[3];
	struct reading k;

	(void)state;
	until_asleep(pid);
	look(&k, pid);
	for (int i = 0; i < 3; i++) {
		is_in(&k, "inner", SYS_read);
		inside[i] = *call_of(&k, "inner");
		if (i)
			assert_int_equal(call_of(&k, "body_of_calls")->frame, outer.frame);
		outer = *call_of(&k, "body_of_calls");
		assert_true(inside[i].frame < outer.frame);
		assert_int_equal(call_of(&k, "middle") != NULL, i == 2);
		give_byte();
		while (i < 2 && left())
			nap_ms(1);
		if (i < 2)
			until_asleep(pid);
	}
	assert_int_equal(ended(pid), 0);
	assert_int_equal(inside[0].frame, inside[1].frame); /* the same place on the stack */
	assert_int_not_equal(inside[1].frame, inside[2].frame);
	leave(&k);
}

/* A stack that is longer than what is copied has no outermost frame. */
BODY tall(int n)
{
	volatile char room[8192];
	int ret;

	room[n] = 0;
	ret = n ? tall(n - 1) : waits_read();
	return ret + room[n];
}

BODY body_of_tall(void)
{
	return tall(60);
}

static void too_long(void **state)
{
	const pid_t pid = begin(body_of_tall);
	const struct ki_thread_stack *s;
	struct reading k;

	(void)state;
	until_asleep(pid);
	look(&k, pid);
	assert_int_equal(again(&k), 0);
	s = &k.all.v[0];
	assert_false(s->whole);
	assert_in_range(s->n, 20, 35);
	assert_non_null(call_of(&k, "tall"));
	assert_null(call_of(&k, "body_of_tall"));
	assert_int_equal(s->v[s->n - 1].frame, 0);
	give_byte();
	assert_int_equal(ended(pid), 0);
	leave(&k);
}

/* A thread that has used nearly all of its stack: what is below %rsp is not mapped. */
static char *lowest;

static __attribute__((noipa, no_sanitize("address", "undefined"))) void *at_the_edge(void *arg)
{
	const uintptr_t rsp = (uintptr_t)__builtin_alloca(16);
	volatile char *rest = __builtin_alloca(rsp - (uintptr_t)lowest - 64);
	long ret;

	rest[0] = 0;
	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "0"(SYS_read), "D"(m->pipe[0]), "S"(arg), "d"(1)
			 : "rcx", "r11", "memory");
	return ret == 1 ? NULL : arg;
}

BODY body_of_edge(void)
{
	char *all = mmap(NULL, 5 << 16, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), c;
	void *result = all;
	pthread_attr_t attr;
	pthread_t thread;

	lowest = all + 65536;
	mprotect(lowest, 4 << 16, PROT_READ | PROT_WRITE);
	pthread_attr_init(&attr);
	pthread_attr_setstack(&attr, lowest, 4 << 16);
	if (pthread_create(&thread, &attr, at_the_edge, &c))
		return FAILED;
	pthread_join(thread, &result);
	return result ? FAILED : 0;
}

static void at_the_end(void **state)
{
	const pid_t pid = begin(body_of_edge);
	struct reading k;

	(void)state;
	look(&k, pid);
	do
		assert_int_equal(again(&k), 0);
	while (k.all.n < 2 || k.all.v[0].call != SYS_futex || k.all.v[1].call != SYS_read);
	assert_true(k.all.v[1].whole);
	assert_non_null(call_of(&k, "at_the_edge"));
	assert_in_range(k.all.v[1].n, 2, 8);
	give_byte();
	assert_int_equal(ended(pid), 0);
	leave(&k);
}

/* ---- running ---- */

BODY body_of_spin(void)
{
	m->phase = 1;
	while (m->phase < 2)
		;
	return 0;
}

static void running(void **state)
{
	const pid_t pid = begin(body_of_spin);
	struct reading k;

	(void)state;
	while (!m->phase)
		nap_ms(1);
	look(&k, pid);
	for (int i = 0; i < READINGS; i++)
		is_in(&k, "body_of_spin", -1);
	m->phase = 2;
	assert_int_equal(ended(pid), 0);
	leave(&k);
}

/* It stays stopped by its user, and goes on when it is told. */
static void stopped(void **state)
{
	const pid_t pid = begin(waits_read);
	struct reading k;
	int status;

	(void)state;
	until_asleep(pid);
	kill(pid, SIGSTOP);
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	look(&k, pid);
	for (int i = 0; i < 3; i++)
		is_in(&k, "waits_read", SYS_read);
	give_byte();
	nap_ms(50);
	assert_int_equal(waitpid(pid, &status, WNOHANG), 0);
	kill(pid, SIGCONT);
	assert_int_equal(ended(pid), 0);
	leave(&k);
}

BODY body_of_vfork(void)
{
	const pid_t pid = vfork();

	if (!pid) {
		waits_read();
		_exit(0);
	}
	return 0;
}

/* A vfork's parent cannot be stopped. It is not ours afterwards, and goes on. */
static void stuck(void **state)
{
	const pid_t pid = begin(body_of_vfork);
	struct reading k;

	(void)state;
	until_asleep(pid);
	look(&k, pid);
	assert_int_equal(again(&k), 0);
	assert_int_equal(k.all.n, 1);
	assert_true(k.all.v[0].stuck);
	assert_int_equal(k.all.v[0].n, 0);
	assert_int_equal(k.all.v[0].call, -1);
	give_byte();
	assert_int_equal(ended(pid), 0);
	leave(&k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(calls_go_on), TEST(instances), TEST(too_long), TEST(running),
		TEST(at_the_end),  TEST(stopped),   TEST(stuck),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
