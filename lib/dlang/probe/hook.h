/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Probes that are no function of their own: where the kernel is spliced for them, when that place
 * means them, and what their arguments are there.
 *
 * A tracepoint is switched on by an event of perf, which records nothing. What the kernel calls
 * then is a function for each class of events, whose first parameter says which event it is; the
 * clauses stand at its beginning. profile-N is an event of perf on each CPU; the clauses stand
 * where perf handles it, behind a comparison of a number that the event carries. For a place in a
 * process see user.h.
 */
#ifndef KI_DLANG_HOOK_H
#define KI_DLANG_HOOK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "kerninst/err.h"

struct ki_dlang;
struct ki_d_probe;
struct ki_target;

enum ki_d_hook_kind {
	KI_D_HOOK_NONE,
	KI_D_HOOK_TRACEPOINT,
	KI_D_HOOK_FUNCTION,
	KI_D_HOOK_PROFILE,
	KI_D_HOOK_USER,
};

/* When the place means the probe. */
enum ki_d_guard {
	KI_D_ALWAYS,
	KI_D_PARAM_IS,	 /* parameter `param` is `value` */
	KI_D_FIELD_IS,	 /* the word `offset` bytes behind it is */
	KI_D_PARAMS_ARE, /* it and the next one are value's two halves */
	KI_D_PARAMS_ARE_NOT,
	KI_D_PARAM_SET, /* it is not 0 */
	KI_D_FAILED,	/* the value that is returned is negative */
	KI_D_NULL,	/* it is 0 */
	KI_D_SUCCEEDED, /* it is an int that is not */
	KI_D_POSITIVE,	/* it is above 0 */
	KI_D_HAS_BIT,	/* it has one of the bits `value` */
	KI_D_BYTE_IS,	/* the byte `offset` bytes behind parameter `param` is `value` */
};

struct ki_d_guarded {
	uint8_t kind, param;
	uint32_t offset;
	uint64_t value;
};

#define KI_D_GUARDS 2

struct ki_d_hook {
	uint8_t kind;
	bool is_return;
	uint8_t first;	   /* the parameter that arg0 is, if there is no map */
	const char *group; /* of a tracepoint; a function's name */
	const char *event;
	/*
	 * A letter for each argument: the parameter '0' to '9'; '-': 0; '1' more than that, 'y'; a
	 * word before parameter 0, '<'; the value that is returned, 'v'. Of a return, what was when
	 * the function was called: parameter 0, 'k'; how many nanoseconds ago that was, 't'. 'K':
	 * parameter 0 of another row's function that has jumped here. 'b': so many pages as the
	 * struct bio has that parameter 0 leads to. The state of the socket that parameter 0 is,
	 * 's'; TCP_SYN_RECV, 'r'; TCP_TIME_WAIT, 'w'; TCP_LISTEN, 'l'.
	 */
	const char *map;
	bool jumps;	/* another row has a 'K': only returns count */
	uint64_t there; /* bits: rows of stable.c from its own on, each of which is a place of it */
	struct ki_d_guarded guard[KI_D_GUARDS];
	struct ki_d_user *user; /* user.h */
	int *fds;		/* events of perf */
	unsigned int nfds;
};

/* Find the function: p->sym, and guards. *reason: not 0, it cannot be had, and that fails nothing.
 */
int ki_d_hook_find(struct ki_dlang *d, struct ki_d_probe *p, unsigned int *reason,
		   struct ki_err *err);

/* At how many places of its own it is: several of a process, each with a piece of code. */
uint32_t ki_d_hook_places(const struct ki_d_probe *p);

/* Where the kernel is spliced for one of these. */
struct ki_symbol;
const struct ki_symbol *ki_d_hook_symbol(const struct ki_d_probe *p, uint32_t place);

/* user.c: the same of KI_D_HOOK_USER; 0, or -errno */
int ki_d_user_open(struct ki_dlang *d, struct ki_d_probe *p);

/* All code is in: let what is periodic begin. */
void ki_d_hook_begin(struct ki_d_probe *p);
void ki_d_hook_end(struct ki_d_probe *p);

/* The parameter that argument i is; -1: it is none. Its letter; 0: it has none. */
int ki_d_hook_param(const struct ki_d_hook *h, unsigned int i);
char ki_d_hook_letter(const struct ki_d_hook *h, unsigned int i);

/* Is something kept from the entry on? Does it tell of such a thing? */
bool ki_d_hook_keeps(const struct ki_d_hook *h);
bool ki_d_hook_tells(const struct ki_d_hook *h);

/* stable.c: how many rows are places of the probe; it is at that one now: p->sym, and its hook. */
uint32_t ki_d_stable_places(const struct ki_d_probe *p);
void ki_d_stable_turn(struct ki_target *t, struct ki_d_probe *p, uint32_t place);

/* One more event of perf; 0, or -errno. */
struct perf_event_attr;
int ki_d_hook_event(struct ki_d_hook *h, struct perf_event_attr *attr, pid_t pid, int cpu);

/* cpc.c: what perf is to count for a name of the provider cpc; false: it is none. */
bool ki_d_cpc_event(const char *name, struct perf_event_attr *attr);

/* A file of an event's, "group/name/format"; NULL: it cannot be read. Free it. */
char *ki_d_hook_event_file(const char *name);

/* args_known.c: how many arguments a system call has; as many as there can be, if that is not
 * known. */
#define KI_D_SYSCALL_ARGS 6
unsigned int ki_d_syscall_args(const char *name);

/* Names of events, "group:name", a line each; NULL: they cannot be read. Free it. */
char *ki_d_hook_events(void);

#endif
