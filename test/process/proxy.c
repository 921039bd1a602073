// SPDX-License-Identifier: GPL-2.0-only
/*
 * A proxy that answers requests over the loopback device and keeps what it answers, until it is
 * killed. Its clients are threads of a child; each asks, waits for the answer, and asks again.
 *
 *	create	files are created for each object, and the oldest are unlinked. Answers wait for an
 *		event that is due each time that half of the clients' files could be created
 *	reuse	all objects are parts of one file, which stays
 *	tuned	the same, and an answer is sent when it is there
 *
 * usage: proxy create|reuse|tuned DIRECTORY COUNT
 * COUNT is a file that holds how many requests have been answered: 8 bytes.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))
#define AFTER	 __asm__ volatile("" ::: "memory") /* no tail jump */
#define CLIENTS	 4
#define OBJECT	 2048
#define OBJECTS	 16
#define PIECES	 6 /* files of an object */

static bool creates, delays;
static _Atomic unsigned long *answered;
static int conns[CLIENTS];
static bool ready[CLIENTS]; /* an answer waits */
static char object[OBJECT];
static unsigned long number;
static int all = -1;	 /* the one file */
static long due, period; /* microseconds */

static void must(bool ok, const char *what)
{
	if (ok)
		return;
	perror(what);
	exit(1);
}

static long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000L + t.tv_nsec / 1000;
}

/* ---- clients ---- */

static void *ask(void *arg)
{
	static const char request[64] = "GET /object HTTP/1.0";
	const int fd = *(int *)arg;
	char answer[OBJECT];

	while (write(fd, request, sizeof(request)) == sizeof(request))
		if (recv(fd, answer, sizeof(answer), MSG_WAITALL) != sizeof(answer))
			break;
	return NULL;
}

static void be_clients(const struct sockaddr_in *to)
{
	pthread_t t[CLIENTS];
	int fds[CLIENTS];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (int i = 0; i < CLIENTS; i++) {
		fds[i] = socket(AF_INET, SOCK_STREAM, 0);
		must(!connect(fds[i], (const struct sockaddr *)to, sizeof(*to)), "connect");
		must(!pthread_create(&t[i], NULL, ask, &fds[i]), "thread");
	}
	pthread_join(t[0], NULL);
	_exit(0);
}

static void accept_all(void)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	const int fd = socket(AF_INET, SOCK_STREAM, 0);
	socklen_t len = sizeof(at);

	must(!bind(fd, (struct sockaddr *)&at, len) && !listen(fd, CLIENTS) &&
		     !getsockname(fd, (struct sockaddr *)&at, &len),
	     "listen");
	if (!fork())
		be_clients(&at);
	for (int i = 0; i < CLIENTS; i++)
		must((conns[i] = accept(fd, NULL, NULL)) >= 0, "accept");
}

/* ---- the store ---- */

/* A file of an object, relative to the directory. */
static const char *name_of(unsigned long n, int piece)
{
	static char name[32];

	snprintf(name, sizeof(name), "%08lx.%d.o", n, piece);
	return name;
}

static void create_piece(int piece)
{
	const int fd = open(name_of(number, piece), O_WRONLY | O_CREAT | O_EXCL, 0600);

	must(fd >= 0 && write(fd, object, OBJECT / PIECES) == OBJECT / PIECES, "file");
	close(fd);
}

NOINLINE void store_new(void)
{
	for (int i = 0; i < PIECES; i++) {
		create_piece(i);
		must(!unlink(name_of(number - OBJECTS, i)), "unlink");
	}
}

NOINLINE void store_again(void)
{
	must(pwrite(all, object, OBJECT, (off_t)(number % OBJECTS) * OBJECT) == OBJECT, "file");
}

/* What a proxy has to do anyway. */
NOINLINE void make_object(void)
{
	for (int round = 0; round < 20; round++)
		for (int i = 0; i < OBJECT; i++)
			object[i] = (char)(object[i] * 31 + i + (char)number);
}

/* So it is known how long files take. */
static void fill_store(void)
{
	const long begun = now();

	for (; number < OBJECTS; number++)
		for (int i = 0; i < PIECES; i++)
			create_piece(i);
	period = (now() - begun) / OBJECTS * CLIENTS / 2;
	all = open("all.o", O_RDWR | O_CREAT, 0600);
}

/* ---- the loop ---- */

NOINLINE void answer(int i)
{
	must(write(conns[i], object, OBJECT) == OBJECT, "answer");
	ready[i] = false;
	atomic_fetch_add(answered, 1);
}

NOINLINE void serve(int i)
{
	char request[64];

	must(recv(conns[i], request, sizeof(request), MSG_WAITALL) == sizeof(request), "request");
	make_object();
	if (creates)
		store_new();
	else
		store_again();
	number++;
	ready[i] = true;
	if (!delays)
		answer(i);
}

NOINLINE void run_events(void)
{
	if (now() < due)
		return;
	for (int i = 0; i < CLIENTS; i++)
		if (ready[i])
			answer(i);
	due = now() + period;
}

/* Until somebody asks, or the event is due. */
NOINLINE int wait_ready(fd_set *set)
{
	const long left = due > now() ? due - now() : 0;
	struct timeval t = {left / 1000000, left % 1000000};
	int most = 0, n;

	FD_ZERO(set);
	for (int i = 0; i < CLIENTS; i++) {
		FD_SET(conns[i], set);
		most = conns[i] > most ? conns[i] : most;
	}
	n = select(most + 1, set, NULL, NULL, &t);
	AFTER;
	return n;
}

/* A function of its own: main calls nothing of the kernel's. */
NOINLINE void prepare(const char *directory, const char *count)
{
	const int fd = open(count, O_RDWR | O_CREAT, 0600);

	must(fd >= 0 && !ftruncate(fd, 8), count);
	answered = mmap(NULL, 8, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	must(answered != MAP_FAILED && !chdir(directory), directory);
	fill_store();
	accept_all();
	printf("ready\n");
	fflush(stdout);
}

NOINLINE void serve_ready(void)
{
	fd_set set;
	const int n = wait_ready(&set);

	for (int i = 0; n > 0 && i < CLIENTS; i++)
		if (FD_ISSET(conns[i], &set))
			serve(i);
	run_events();
}

int main(int argc, char **argv)
{
	if (argc != 4)
		return 2;
	creates = !strcmp(argv[1], "create");
	delays = strcmp(argv[1], "tuned");
	prepare(argv[2], argv[3]);
	for (;;)
		serve_ready();
}
