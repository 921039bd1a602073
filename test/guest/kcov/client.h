/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A client of KCOV, for the tests: one file, its area, and what system calls leave there. It uses
 * no part of kerninst.
 */
#ifndef TEST_KCOV_CLIENT_H
#define TEST_KCOV_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/kcov.h>

#define KCOV_FILE "/sys/kernel/debug/kcov"
#define WORDS	  (64ul << 10)

struct client {
	int fd;
	uint64_t *area;
	size_t words;
};

__attribute__((noreturn)) void die(const char *what);

void client_open(struct client *c, size_t words); /* initialized and mapped */
void client_enable(struct client *c);		  /* and empty */
void client_disable(struct client *c);
void client_close(struct client *c);

/* Addresses recorded since client_enable, or since the area was emptied. */
uint64_t client_count(const struct client *c);
void client_empty(struct client *c);

/*
 * One system call that a straight path goes through, without a library: getppid, or read of no
 * file. call_path: how many addresses the client that is enabled gets of one, and which.
 */
enum call { CALL_GETPPID, CALL_READ, CALLS };
void call_make(enum call what, unsigned int times);

struct path {
	uint64_t v[64];
	size_t n;
};
void call_path(struct client *c, enum call what, struct path *out);

/* Is what the client has recorded this path, so many times? */
bool client_has(const struct client *c, const struct path *p, size_t times);

/* The calling thread goes on on that CPU. */
void move_to(unsigned int cpu);

/* ---- cases.c, comparisons.c, errors.c: each a line "ok NAME" or "not ok NAME" ---- */

struct test_case {
	const char *name;
	bool (*run)(void);
};
extern const struct test_case test_cases[];
extern const size_t test_cases_count;
extern const struct test_case test_comparisons[];
extern const size_t test_comparisons_count;

/* Calls: of each a line `want NAME CONSTANT VALUE`, then what it leaves. */
int comparisons_print(void);

void errors_all(void);
void say(const char *name, bool good);

#endif
