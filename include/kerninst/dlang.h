/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The D language: a program is compiled to snippets, which run inline where its probes are.
 *
 *	ki_dlang_new(text, &options, &d, &err);	types, names, formats
 *	ki_dlang_match(d, target, &err);		which probes its descriptions mean
 *	ki_dlang_start(d, target, &err);		BEGIN has run, all others are in
 *	while (!(ret = ki_dlang_work(d, 100, &out, &err)))
 *		;					what they print
 *	ki_dlang_stop(d, &out, &err);			all is out, END has run, aggregations
 *							are printed
 *	ki_dlang_free(d);
 *
 * A program is used by one thread. BEGIN, END and tick probes run in the kernel, too: the thread
 * that calls start, work and stop enters it for them, so they have its name and number.
 */
#ifndef KERNINST_DLANG_H
#define KERNINST_DLANG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "kerninst/err.h"
#include "kerninst/target.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ki_dlang;

/* Where in a program something is wrong, and which of the reference's error tags that has. */
struct ki_dlang_where {
	const char *tag;	   /* "D_SYNTAX"; NULL: it has no place */
	size_t at;		   /* in the text, in bytes */
	unsigned int line, column; /* from 1; # 12 in a line says that the next one is line 12 */
	char text[160];		   /* the line */
};

struct ki_dlang_options {
	size_t size;		 /* of this structure */
	const char *const *args; /* $1, $2, ... */
	unsigned int nargs;
	const char *name;	/* $0: the script's file; NULL: "dtrace" */
	int target;		/* $target; 0: none */
	const char *const *set; /* options, NAME[=VALUE]; pragmas come after them */
	unsigned int nset;
	const char *btf;	      /* types of the kernel: a file; NULL: the running one's */
	struct ki_dlang_where *where; /* filled if the program is not compiled; or NULL */
	FILE *listing;		      /* the program's variables and code, as it is made; or NULL */
	bool built_only;	      /* ki_dlang_start() makes all code, and puts nothing in */
	bool harmless; /* -EPERM for destructive actions, whatever the program's own options say */
	bool cost;     /* measure what the program costs: ki_dlang_cost() */
	bool lists; /* a description of any provider means what is written into the target, too */
	double budget; /* that, as a share of the machine, at most: probes that cost too much are
			  taken out, and warned of; 0: none */
	FILE *trees;   /* what option tree wants; or NULL */
};

/* What is wrong, without the place before it that a message begins with; part of err's text. */
const char *ki_dlang_reason(const struct ki_err *err);

/* The version of the language that programs find. */
#define KI_D_LANGUAGE "2.0.7"

/* -EINVAL: err says where and what. o may be NULL; strings are copied. */
int ki_dlang_new(const char *text, const struct ki_dlang_options *o, struct ki_dlang **out,
		 struct ki_err *err);
void ki_dlang_free(struct ki_dlang *d); /* NULL is allowed */

/*
 * For a program that declares probes to be written into a program of C or C++, and has no clauses.
 * The header has a macro for each of them (its guard: any text). The object is to be linked to
 * those that use that. -EINVAL.
 */
int ki_dlang_header(const struct ki_dlang *d, const char *guard, FILE *out, struct ki_err *err);
int ki_dlang_object(const struct ki_dlang *d, FILE *out, struct ki_err *err);

/* Are there descriptions of places in processes (pid1234:...)? ki_dlang_match opens these. */
bool ki_dlang_wants_process(const struct ki_dlang *d);

/* Does it use args[] of probes that are written into programs? Their types are those that notes of
   the processes say when ki_dlang_new looks; then of none there yet they are numbers. */
bool ki_dlang_wants_types(const struct ki_dlang *d);

/* A probe, for lists. */
struct ki_dlang_probe {
	uint32_t id;
	const char *provider, *module, *function, *name;
	unsigned int reason; /* KI_R_OK, or why it has been left out */
};

/* Which probes the descriptions mean. -ENOENT: one of them means none. */
int ki_dlang_match(struct ki_dlang *d, struct ki_target *t, struct ki_err *err);

/* Are options quiet and destructive set, by the program or otherwise? */
bool ki_dlang_is_quiet(const struct ki_dlang *d);
/* Option evaltime: does the target begin at its execve, or when its libraries are there? */
bool ki_dlang_at_exec(const struct ki_dlang *d);
bool ki_dlang_at_main(const struct ki_dlang *d); /* not before its main(), as is usual */
bool ki_dlang_is_destructive(const struct ki_dlang *d);

/* How many probes the descriptions between two places of the text have matched, one by one. */
size_t ki_dlang_matched(const struct ki_dlang *d, size_t from, size_t to);

/* A description as it is written, with all its colons, and how many probes it has matched; i is
   less than ki_dlang_descriptions(). */
size_t ki_dlang_descriptions(const struct ki_dlang *d);
size_t ki_dlang_description(const struct ki_dlang *d, size_t i, char *text, size_t size);

/* The probes that were matched: how many, and one of them. */
size_t ki_dlang_probes(const struct ki_dlang *d);
void ki_dlang_probe(const struct ki_dlang *d, size_t i, struct ki_dlang_probe *out);

/* The type of args[arg] of one of them; false: it has no such argument, or it is not known. */
bool ki_dlang_argument(struct ki_dlang *d, size_t i, unsigned int arg, char *text, size_t size);

/* How stable names are, what they mean, and where they are so: Evolving, Private, ISA. */
struct ki_dlang_stability {
	const char *names, *data, *where;
};

/* Of one of the probes, and of its arguments. */
void ki_dlang_stability(const struct ki_dlang *d, size_t i, struct ki_dlang_stability *probe,
			struct ki_dlang_stability *arguments);

/* The least of the descriptions, and of what clauses name, between two places of the text. */
void ki_dlang_least_stable(const struct ki_dlang *d, size_t from, size_t to,
			   struct ki_dlang_stability *descriptions,
			   struct ki_dlang_stability *statements);

/*
 * Compile clauses for each probe, put them in. Probes that cannot be placed are left out
 * (ki_dlang_probe says why), and fail nothing. t must be live, and live as long.
 */
int ki_dlang_start(struct ki_dlang *d, struct ki_target *t, struct ki_err *err);

/*
 * Of a program that runs, how many places in processes have a breakpoint of the driver's, for no
 * reason (KI_R_OK); or a uprobe of the kernel's, for this one, or because the program has the
 * option.
 */
size_t ki_dlang_places(const struct ki_dlang *d, bool by_driver, unsigned int reason);

/* How often probes have been put in that came to a process while the program ran. */
size_t ki_dlang_came(const struct ki_dlang *d);

/* Where output goes. */
struct ki_dlang_output {
	void (*print)(void *arg, const char *text, size_t len);
	void (*warn)(void *arg, const char *text); /* of one line, without its end; or NULL */
	void (*truncate)(void *arg); /* forget what was printed, if it is a file; or NULL */
	void *arg;
};

/*
 * Wait at most so many milliseconds, fire tick probes that are due, print what has been recorded.
 * 1: the program has asked for its end by exit().
 */
int ki_dlang_work(struct ki_dlang *d, int milliseconds, const struct ki_dlang_output *out,
		  struct ki_err *err);

/* Take all out, run END, print what is left and all aggregations that have not been printed. */
int ki_dlang_stop(struct ki_dlang *d, const struct ki_dlang_output *out, struct ki_err *err);

int ki_dlang_status(const struct ki_dlang *d); /* of exit() */

/* What was lost: records for which there was no room, changes of aggregations and arrays. */
struct ki_dlang_drops {
	uint64_t records, aggregations, variables, strings;
	uint64_t speculations; /* records of speculations */
	uint64_t refused;      /* speculations that there was no number for */
	uint64_t errors;       /* faults of clauses of ERROR */
	uint64_t signals;      /* of raise() and stop(): more than there was room for */
	bool tagged;	       /* option droptags: they are to be said with their tags */
};
/* Records of one CPU for which option bufsize has no room; 0 of one that there is not. */
uint64_t ki_dlang_cpu_drops(const struct ki_dlang *d, unsigned int cpu);
unsigned int ki_dlang_cpus(const struct ki_dlang *d); /* all others have none */
void ki_dlang_drops(const struct ki_dlang *d, struct ki_dlang_drops *out);

/*
 * What a program has cost until ki_dlang_stop(), if it was asked for (cost, budget): instructions
 * of its code at its probes, CPU time of this process; what the machine can execute is for
 * comparison. What the kernel does for an event (a tracepoint's, a clock's, a uprobe's) is not in
 * it; what a breakpoint of the driver's takes is. false: it is not known.
 */
struct ki_dlang_cost {
	double seconds;
	double instructions;
	double own;	/* seconds of CPU */
	double machine; /* instructions a second of all CPUs */
	double share;	/* of all that, of the machine */
};
bool ki_dlang_cost(const struct ki_dlang *d, struct ki_dlang_cost *out);

/* One probe's part of it, 0 where it has no place in the kernel or in a process. */
struct ki_dlang_probe_cost {
	uint64_t hits; /* how often control came by, predicates or not */
	double instructions;
	double out_at; /* seconds after the start, when it was taken out; negative: it was not */
};
void ki_dlang_probe_cost(const struct ki_dlang *d, size_t i, struct ki_dlang_probe_cost *out);

#ifdef __cplusplus
}
#endif

#endif
