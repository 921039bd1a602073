/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Predicates: conditions in text, as C writes them, that say when an instrument is done.
 *
 *	pid == 1234 && arg2 > 4096
 *	comm == "tar" || uid == "root"
 *	inside(vfs_read) && !inside(ext4_file_read_iter)
 *	*(u32 *)(arg0 + 16) & 0x8000
 *
 * Operators: those of C without assignment, comma, & before an operand and sizeof, with C's
 * precedence; ?: too. What they mean is said in snippet.h: arithmetic is in 64 bits and nothing
 * traps; numbers are signed unless they end in u or are 2^63 and more. `a in (1, 2, 3)`, which
 * binds as < does, is true if a equals one of them. Casts and loads name a type: i8..i64, u8..u64,
 * and C's char, short, int, long, also unsigned ones. Numbers are decimal, 0x.., 0.., or a
 * character, which is its byte, 0 to 255. At most 100 levels are nested; a || b || c is two.
 *
 * Names
 *	pid, tid	the process's number, the thread's
 *	comm, execname	the thread's name: only ==, != and in, with strings of at most 15 bytes
 *	uid		==, != and in also with a user's name
 *	cgroup		the same with a path in the unified hierarchy, as "/user.slice": which
 *			group that is, is looked up once, when the text is read
 *	cpu
 *	arg0, arg1, ...	i64; at the entry of a function only. Of narrower ones the upper bits mean
 *			nothing: (int)arg1 < 0
 *	retval		i64; where a function returns only. Of functions that return an int:
 *			(int)retval < 0
 *	$rax, $rdi, ...	u64: a register as it is at the point
 *	str(ADDRESS), ustr(ADDRESS), also with a number of bytes after a comma: the string at an
 *			address of the kernel, of the process: only ==, != and in, with strings of
 *			at most 126 bytes, and starts(str(ADDRESS), "TEXT"). What cannot be read is
 *			an empty string (ki_expr_string).
 *	inside(FUNCTION)	the thread is in FUNCTION, or in what it has called: a code path.
 *			Who measures counts that with a word of the thread for each such function.
 *			FUNCTION is taken as it stands there: [MODULE:]NAME[@0xADDRESS].
 *	NAME(expression, ...)	i64: what the instrument NAME of a loaded module returns
 *			(callable.h), 0 where it must not be called now; it is called whenever the
 *			expression needs it. Where it is, is looked up when the text is read: if the
 *			module goes before the driver has the code, the driver refuses it.
 */
#ifndef KERNINST_PREDICATE_H
#define KERNINST_PREDICATE_H

#include "kerninst/snippet.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ki_predicate;

/*
 * -EINVAL: what was expected, and where (a column from 1), is in err. Of instruments also what
 * ki_callables_find (-EEXIST, -EPROTO) and ki_callable_locate return, with the column.
 */
int ki_predicate_new(const char *text, struct ki_predicate **out, struct ki_err *err);
/* The same for a value, which may also be str() or ustr() by itself: 64 bytes if it does not say.
 */
int ki_predicate_new_value(const char *text, struct ki_predicate **out, struct ki_err *err);
bool ki_predicate_is_string(const struct ki_predicate *p);
unsigned int ki_predicate_words(const struct ki_predicate *p); /* of the value, in a record */
void ki_predicate_free(struct ki_predicate *p);		       /* NULL is allowed */

/* The functions of its inside(), as they are written: each once, numbered as they come. NULL:
   there is no such number. */
const char *ki_predicate_inside(const struct ki_predicate *p, size_t n);

/*
 * Its nodes in a snippet: an expression that is not 0 if the predicate holds. inside: for each
 * function the word that is not 0 while the thread is there (KI_VAR_THREAD); NULL if there is none.
 * Whether a place has arguments or a return value is for ki_snippet_check to say.
 */
int ki_predicate_build(const struct ki_predicate *p, struct ki_snippet *s,
		       const struct ki_var *inside, struct ki_node **out, struct ki_err *err);

/*
 * The same as a statement that does `then` if the predicate holds. It takes locals, from the last
 * one (KI_LOCALS - 1) down, for what is compared more than once by `in`. ki_predicate_build
 * refuses (-EOPNOTSUPP) a predicate that would have to load something twice without them. So does
 * this one, if it would have to call an instrument for them whose result it may not need.
 */
int ki_predicate_guard(const struct ki_predicate *p, struct ki_snippet *s,
		       const struct ki_var *inside, struct ki_node *then, struct ki_node **out,
		       struct ki_err *err);

/*
 * The instrument that it calls which writes records, and what these are (ki_callable.records);
 * NULL: none does. They go where `hit` says, which must live as long as nodes are built; NULL, as
 * it is at first: nowhere, and its id is 0.
 */
const char *ki_predicate_recording(const struct ki_predicate *p, const char **records);
void ki_predicate_hit(struct ki_predicate *p, const struct ki_hit *hit);

/* In the words of the language, with parentheses only where they are needed: read again, it is the
   same predicate. Free *out with ki_free(). */
int ki_predicate_format(const struct ki_predicate *p, char **out, struct ki_err *err);

/*
 * Conditions that are wanted often, from their short forms: numbers of processes with commas; a
 * thread's name; a list of CPUs, as 0-3,8. Text of a predicate, to be freed. NULL: errno is EINVAL,
 * it is none; or ENOMEM.
 */
char *ki_predicate_pids(const char *text);
char *ki_predicate_comm(const char *name);
char *ki_predicate_cpus(const char *text);

#ifdef __cplusplus
}
#endif

#endif
