/* SPDX-License-Identifier: GPL-2.0-only */
/* Options of all verbs, which stand before the verb. */
#ifndef KERNINST_WHOLE_H
#define KERNINST_WHOLE_H

/* clang-format off */
#define WHOLE_USAGE \
	"Before the verb:\n" \
	"  --timing         when it is over, how long each step took, on standard error\n" \
	"  --priority N     run in real time, at 1 to 99 (SCHED_RR); the command that is measured does not\n"
/* clang-format on */

/*
 * Takes those that stand first: argv[1] is what follows. An exit status, CLI_OK if it can go on.
 */
int whole_take(int *argc, char ***argv);

/* When the verb has ended: what has been asked for is said. */
void whole_end(void);

#endif
