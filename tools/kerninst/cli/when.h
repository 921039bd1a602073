/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The condition under which a verb measures: --if PREDICATE, and short forms of predicates that are
 * wanted often. All that are given must hold.
 */
#ifndef KERNINST_WHEN_H
#define KERNINST_WHEN_H

#include "cli.h"
#include "kerninst/predicate.h"

struct when {
	char *text; /* all of them, as one predicate; NULL: none */
	bool own;   /* of the command's processes only */
};

/* clang-format off */
#define WHEN_USAGE \
	"      --if PREDICATE         only if that holds: 'pid == 1234 && arg2 > 4096'; names:\n" \
	"                             pid tid comm uid cgroup cpu arg0 arg1 ... retval $rax ...\n" \
	"      --pid PID[,PID...]     only in these processes\n" \
	"      --comm NAME            only in threads of this name\n" \
	"      --cpu LIST             only on these CPUs: 0-3,8\n" \
	"      --own                  only in COMMAND and the processes it starts\n"
/* clang-format on */

/* Rows of cli_parse; w: a struct when. */
#define WHEN_ROWS(w)                                                                               \
	{"if", 0, when_if, &(w)}, {"pid", 0, when_pid, &(w)}, {"comm", 0, when_comm, &(w)},        \
		{"cpu", 0, when_cpu, &(w)},                                                        \
	{                                                                                          \
		"own", CLI_NO_VALUE, when_own, &(w)                                                \
	}
cli_take when_if, when_pid, when_comm, when_cpu, when_own;

/* The predicate, or NULL if nothing is asked for: CLI_OK, or reported. Before command_prepare,
   which puts the command where --own looks for it. */
int when_predicate(struct when *w, const struct verb *self, struct ki_predicate **out);

void when_free(struct when *w);

#endif
