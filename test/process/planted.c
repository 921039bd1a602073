// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program whose time goes where its first argument says, until it is killed. It knows what share
 * each function has: they count in units of the same loop.
 *
 *	chain	main -> work -> first -> second: 60 %; work -> third: 10 %; work itself: 30 %
 *	pointer	main -> choose -> through a pointer chosen: 80 %; other: 20 %
 *	nap	main -> sleeps -> nanosleep: nearly all
 *	zero	main -> fills -> read of /dev/zero: nearly all, in the kernel
 *	fault	main -> touches: page faults
 *	reader FILE
 *		main -> scans: page faults that read the file, which is in no memory then
 *	delay	main -> stores -> write of a file of the test module ki_metrics, whose function
 *		ki_metrics_spin runs for 20 ms: nearly all
 *	threads	main waits; a thread in left -> burns: 100 %, one in right -> sleeps
 *	tiny	main -> many -> tiny, millions of calls: half
 *	brief	main -> hurries -> brief, a hundred thousand calls a second: 5 % at most
 *	mixed	main -> spins: 40 ms; main -> dozes: 60 ms
 *	crew	main waits; a thread in left -> burns: 100 %; six in crew: each in waits 92 ms, in
 *		dips 8 ms
 *	pages	main -> spins: 40 ms; main -> touches: page faults, all that there are
 *	long	main -> serves, which never returns -> turns: 50 %, a call a second
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))
#define UNIT	 2000
#define AFTER	 __asm__ volatile("" ::: "memory") /* no tail jump */

static volatile unsigned long sum;
static char buffer[1 << 20];

NOINLINE void burn(int units)
{
	for (long i = 0; i < (long)units * UNIT; i++)
		__asm__ volatile("");
	sum++;
}

/* ---- chain ---- */

NOINLINE void second(void)
{
	burn(60);
	AFTER;
}

NOINLINE void first(void)
{
	second();
	AFTER;
}

NOINLINE void third(void)
{
	burn(10);
	AFTER;
}

NOINLINE void work(void)
{
	first();
	third();
	for (long i = 0; i < 30L * UNIT; i++)
		__asm__ volatile("");
}

/* ---- pointer ---- */

NOINLINE void chosen(void)
{
	burn(40);
	AFTER;
}

NOINLINE void other(void)
{
	burn(10);
	AFTER;
}

static void (*volatile table[])(void) = {chosen, other};

NOINLINE void choose(void)
{
	for (unsigned int i = 0; i < 2; i++)
		table[i]();
}

/* ---- in the kernel ---- */

NOINLINE void sleeps(void)
{
	const struct timespec ts = {0, 50000000};

	nanosleep(&ts, NULL);
	AFTER;
}

NOINLINE void fills(void)
{
	static int fd = -1;

	if (fd < 0)
		fd = open("/dev/zero", O_RDONLY);
	if (read(fd, buffer, sizeof(buffer)) < 0)
		_exit(1);
	AFTER;
}

NOINLINE void stores(void)
{
	static const char order[] = "spin 20000 1";
	static int fd = -1;

	if (fd < 0)
		fd = open("/proc/ki_metrics", O_WRONLY);
	if (write(fd, order, sizeof(order) - 1) < 0)
		_exit(1);
	AFTER;
}

NOINLINE void touches(void)
{
	const size_t len = 1 << 20;
	char *p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	madvise(p, len, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < len; i += 4096)
		p[i] = 1;
	munmap(p, len);
}

/* Page by page: nothing is read ahead. */
NOINLINE void scans(const char *name)
{
	static int fd = -1;
	struct stat st;
	char *p;

	if (fd < 0)
		fd = open(name, O_RDONLY);
	if (fstat(fd, &st) < 0)
		_exit(1);
	p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
	madvise(p, (size_t)st.st_size, MADV_RANDOM);
	for (off_t i = 0; i < st.st_size; i += 4096)
		sum += (unsigned long)p[i];
	munmap(p, (size_t)st.st_size);
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
}

/* ---- threads ---- */

NOINLINE void burns(void)
{
	burn(50);
	AFTER;
}

NOINLINE void *left(void *arg)
{
	for (;;)
		burns();
	return arg;
}

NOINLINE void *right(void *arg)
{
	for (;;)
		sleeps();
	return arg;
}

NOINLINE void waits(void)
{
	const struct timespec ts = {0, 92000000};

	nanosleep(&ts, NULL);
	AFTER;
}

NOINLINE void dips(void)
{
	const struct timespec ts = {0, 8000000};

	nanosleep(&ts, NULL);
	AFTER;
}

NOINLINE void *crew(void *arg)
{
	for (;;)
		waits(), dips();
	return arg;
}

NOINLINE void many_threads(void)
{
	pthread_t t[7];

	for (int i = 0; i < 7; i++)
		pthread_create(&t[i], NULL, i ? crew : left, NULL);
	pthread_setname_np(t[0], "one");
	pthread_join(t[0], NULL);
}

NOINLINE void both(void)
{
	pthread_t t[2];

	pthread_create(&t[0], NULL, left, NULL);
	pthread_create(&t[1], NULL, right, NULL);
	pthread_join(t[0], NULL);
}

/* ---- tiny, long ---- */

NOINLINE void tiny(void)
{
	for (int i = 0; i < 20; i++)
		__asm__ volatile("");
}

NOINLINE void many(void)
{
	for (int i = 0; i < 10000; i++) {
		tiny();
		for (int k = 0; k < 20; k++)
			__asm__ volatile("");
	}
}

/* Its return is two bytes that something jumps to, its beginning a window of five. */
void brief(long n);
__asm__(".text\n.globl brief\n.type brief, @function\n.p2align 4\n"
	"brief:\n"
	"	mov $1, %eax\n"
	"	test %rdi, %rdi\n"
	"	je 1f\n"
	"	js 2f\n"
	"	lea 1(%rdi), %rax\n"
	"1:	repz ret\n"
	"2:	xor %eax, %eax\n"
	"	mov $2, %eax\n"
	"	ret\n"
	".size brief, .-brief\n"
	"	.fill 14, 1, 0xcc\n");

NOINLINE void hurries(void)
{
	for (;;) {
		brief((long)sum & 1);
		for (long i = 0; i < UNIT; i++)
			__asm__ volatile("");
	}
}

/* ---- mixed, pages ---- */

static long now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

NOINLINE void spins(void)
{
	const long end = now_ms() + 40;

	while (now_ms() < end)
		for (long i = 0; i < 20L * UNIT; i++)
			__asm__ volatile("");
	AFTER;
}

NOINLINE void dozes(void)
{
	const struct timespec ts = {0, 60000000};

	nanosleep(&ts, NULL);
	AFTER;
}

NOINLINE void turns(void)
{
	const struct timespec ts = {0, 100000000};

	nanosleep(&ts, NULL);
	AFTER;
}

NOINLINE void serves(void)
{
	const struct timespec ts = {0, 100000000};

	for (;;) {
		turns();
		clock_nanosleep(CLOCK_MONOTONIC, 0, &ts, NULL);
	}
}

static inline __attribute__((always_inline)) void once(const char *name)
{
	if (!strcmp(name, "chain"))
		work();
	else if (!strcmp(name, "pointer"))
		choose();
	else if (!strcmp(name, "nap"))
		sleeps();
	else if (!strcmp(name, "zero"))
		fills();
	else if (!strcmp(name, "fault"))
		touches();
	else if (!strcmp(name, "delay"))
		stores();
	else if (!strcmp(name, "threads"))
		both();
	else if (!strcmp(name, "crew"))
		many_threads();
	else if (!strcmp(name, "mixed"))
		spins(), dozes();
	else if (!strcmp(name, "pages"))
		spins(), touches();
	else if (!strcmp(name, "tiny"))
		many();
	else if (!strcmp(name, "brief"))
		hurries();
	else if (!strcmp(name, "long"))
		serves();
}

int main(int argc, char **argv)
{
	if (argc != 2 && argc != 3)
		return 2;
	printf("ready\n");
	fflush(stdout);
	for (;;)
		if (argc == 3)
			scans(argv[2]);
		else
			once(argv[1]);
}
