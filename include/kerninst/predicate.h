/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Predicates: conditions in text, as C writes them, that say when an instrument acts.
 *
 *	pid == 1234 && arg2 > 4096
 *	comm == "tar" || uid == "root"
 *	inside(vfs_read) && !inside(ext4_file_read_iter)
 *	*(u32 *)(arg0 + 16) & 0x8000
 *
 * Operators: those of C without assignment, with its precedence; ?: too. What they mean is said in
 * snippet.h: arithmetic is in 64 bits and nothing traps. `a in (1, 2, 3)` is true if a equals one
 *of them. Casts and loads name a type: i8..i64, u8..u64, and C's char, short, int, long, also
 *unsigned ones. Numbers are decimal, 0x.., 0.., or characters.
 *
 * Names
 *	pid, tid	the process's number, the thread's
 *	comm, execname	the thread's name: == and != with a string of at most 15 bytes
 *	uid		== and != also with a user's name
 *	cgroup		== and != also with a path in the unified hierarchy, as "/user.slice"
 *	cpu
 *	arg0, arg1, ...	at the entry of a function only
 *	retval		where a function returns only
 *	$rax, $rdi, ...	a register as it is at the point
 *	inside(FUNCTION)	the thread is in FUNCTION, or in what it has called: a code path.
 *Who measures counts that with a word of the thread for each such function.
 */
#ifndef KERNINST_PREDICATE_H
#define KERNINST_PREDICATE_H

#include "kerninst/snippet.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ki_predicate;

/* The reason of a failure says what was expected, and where: a column from 1. */
int ki_predicate_parse(const char *text, struct ki_predicate **out, struct ki_err *err);
void ki_predicate_free(struct ki_predicate *p); /* NULL is allowed */

/* The functions of its inside(): each once, numbered as they come; NULL: there is no such number.
 */
const char *ki_predicate_inside(const struct ki_predicate *p, size_t n);

/*
 * Its nodes in a snippet. inside: for each function the word that is not 0 while the thread is
 * there (KI_VAR_THREAD). Whether a place has arguments or a return value is for ki_snippet_check to
 * say.
 */
int ki_predicate_build(const struct ki_predicate *p, struct ki_snippet *s,
		       const struct ki_var *inside, struct ki_node **out, struct ki_err *err);

/* In the words of the language, with parentheses only where they are needed: read again, it is the
   same predicate. Free *out with free(). */
int ki_predicate_format(const struct ki_predicate *p, char **out, struct ki_err *err);

#ifdef __cplusplus
}
#endif

#endif
