// SPDX-License-Identifier: GPL-2.0-only
/*
 * proxy create|reuse DIRECTORY REQUESTS: what a caching proxy does with its disk. For each request
 * it looks whether the object is in the cache, a file in DIRECTORY. If not, it is "fetched" and
 * stored, and the oldest object makes room for it:
 *
 *	create	as a file of its own: the oldest is removed, a new one created
 *	reuse	in the oldest object's file, which is written anew
 *
 * Which objects are asked for is the same in every run. Prints requests, hits, a sum over what was
 * answered, and microseconds for a request.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CACHED	64  /* objects for which there is room */
#define OBJECTS 512 /* that are asked for */
#define SIZE	2048

/* The file of slot i holds object at[i]; slots are used in turn. */
static int at[CACHED];
static int oldest;
static bool reuse;
static uint64_t state = 88172645463325252u;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

/* Half of all requests are for an eighth of the objects. */
static int next_object(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (int)((state >> 20) % (state & 1 << 10 ? OBJECTS / 8 : OBJECTS));
}

/* An object's name if it has a file of its own, else that of its slot. */
static const char *name_of(int object, int slot)
{
	static char name[32];

	snprintf(name, sizeof(name), "%c%04d", reuse ? 's' : 'o', reuse ? slot : object);
	return name;
}

static int slot_of(int object)
{
	for (int i = 0; i < CACHED; i++)
		if (at[i] == object)
			return i;
	return -1;
}

static void fetch(int object, char *to)
{
	for (int i = 0; i < SIZE; i++)
		to[i] = (char)(object * 31 + i * 7);
}

static void load(int object, int slot, char *to)
{
	int fd = open(name_of(object, slot), O_RDONLY);

	if (fd < 0 || read(fd, to, SIZE) != SIZE)
		die("load");
	close(fd);
}

static void store(int object, const char *from)
{
	int slot = oldest, fd;

	oldest = (oldest + 1) % CACHED;
	if (!reuse && unlink(name_of(at[slot], slot)))
		die("unlink");
	at[slot] = object;
	fd = open(name_of(object, slot), reuse ? O_WRONLY : O_CREAT | O_EXCL | O_WRONLY, 0600);
	if (fd < 0 || write(fd, from, SIZE) != SIZE)
		die("store");
	close(fd);
}

static void fill(void)
{
	char object[SIZE] = {0};

	for (int i = 0; i < CACHED; i++) {
		int fd = open(name_of(i, i), O_CREAT | O_EXCL | O_WRONLY, 0600);

		fetch(i, object);
		if (fd < 0 || write(fd, object, SIZE) != SIZE || close(fd))
			die("fill");
	}
}

/* All files are there before anything is asked for. Who makes them has another name, by which it
   can be left out. */
static void prepare(void)
{
	pid_t pid = fork();
	int status = 1;

	if (!pid) {
		prctl(PR_SET_NAME, "fill");
		fill();
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		exit(1);
	for (int i = 0; i < CACHED; i++)
		at[i] = i;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	int n = argc == 4 ? atoi(argv[3]) : 0, hits = 0;
	uint64_t sum = 0;
	double start;

	if (n <= 0 || (strcmp(argv[1], "create") != 0 && strcmp(argv[1], "reuse") != 0)) {
		fprintf(stderr, "usage: proxy create|reuse DIRECTORY REQUESTS\n");
		return 2;
	}
	reuse = argv[1][0] == 'r';
	if (chdir(argv[2]))
		die(argv[2]);
	prepare();
	start = now();
	for (int i = 0; i < n; i++) {
		int object = next_object(), slot = slot_of(object);
		char answer[SIZE];

		if (slot >= 0) {
			load(object, slot, answer);
			hits++;
		} else {
			fetch(object, answer);
			store(object, answer);
		}
		for (int k = 0; k < SIZE; k++)
			sum = sum * 3 + (uint8_t)answer[k];
	}
	printf("%d %d %016llx %.1f\n", n, hits, (unsigned long long)sum, (now() - start) * 1e6 / n);
	return 0;
}
