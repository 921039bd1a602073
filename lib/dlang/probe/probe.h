/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Probes: a provider is a row of a table (provider.c) that finds what a description means.
 */
#ifndef KI_DLANG_PROBE_H
#define KI_DLANG_PROBE_H

#include "dlang/probe/watch.h"
#include "dlang/program.h"

#define KI_D_KERNEL "vmlinux" /* the module of what is built in */

/* points.c: a place in a function, by its name, and its probe + 1; all of one function. */
struct ki_d_spot {
	struct ki_point at;
	char *name;
	uint32_t probe;
};

struct ki_d_listed {
	const struct ki_d_provider *provider;
	const struct ki_symbol *sym;
	ki_vec(struct ki_d_spot) places;
};

struct ki_d_match {
	struct ki_dlang *d;
	struct ki_target *t;
	struct ki_err *err;
	const struct ki_d_pattern *pattern;
	uint32_t clause;
	uint32_t number;     /* of the description */
	uint32_t *by_symbol; /* of each provider, symbol and name: its probe + 1 */
	size_t nsymbols;
	struct ki_d_pairs *pairs;
	uint32_t only;	 /* a probe with this id, if it is not 0 */
	uint32_t *by_id; /* of those before KI_D_FIRST_FUNCTION: the probe + 1 */
	char *events;	 /* ki_d_match_events */
	bool no_events;
	ki_vec(struct ki_d_listed) listed;
	const struct ki_d_stir *later; /* what alone is looked at, while it runs; NULL: all */
	uint32_t batch;		       /* then: of ki_dlang.processes; UINT32_MAX: none yet */
};

struct ki_d_provider {
	const char *name;
	/* All probes of the pattern's other fields, by ki_d_found or ki_d_found_named. */
	int (*find)(struct ki_d_match *m, const struct ki_d_provider *self);
	uint8_t number;	 /* of those that have functions; of those that have events, from 1 */
	bool of_process; /* its probes are in a process, whose number stands behind its name */
};

extern const struct ki_d_provider ki_d_providers[];
#define KI_D_FUNCTION_PROVIDERS 3 /* fbt, syscall, rawfbt */

/*
 * While it runs: probes of one process that have come since, and their clauses. *batch: whose they
 * are (user.h); UINT32_MAX: there are none.
 */
int ki_d_match_later(struct ki_dlang *d, const struct ki_d_stir *of, uint32_t *batch,
		     struct ki_err *err);

/* usdt.c: does some description mean probes of any process; of that one? */
bool ki_d_means_any(const struct ki_dlang *d);
bool ki_d_means_pid(const struct ki_dlang *d, pid_t pid);

/* A provider with globs behind a letter that mean none of the kernel: probes of processes. */
bool ki_d_means_processes(const char *field);
/* Does it mean, where probes are listed, those that are written into the target? */
bool ki_d_lists_target(const struct ki_dlang *d, const char *field);

/* Does the text match a field of the pattern? An empty one matches all. */
bool ki_d_field_matches(const char *field, const char *text);

/* A probe at a function: side 0 is its entry, 1 its return. */
int ki_d_found(struct ki_d_match *m, const struct ki_d_provider *p, const struct ki_symbol *sym,
	       const char *function, unsigned int side);
/* One that has no place: nanoseconds of tick; 0: none. */
int ki_d_found_named(struct ki_d_match *m, const struct ki_d_provider *p, const char *name,
		     uint64_t nanoseconds);

/* Any other, unless its id is there already; what it owns is copied. */
int ki_d_found_probe(struct ki_d_match *m, const struct ki_d_probe *p);

/* The kernel's tracepoints, "group:name", a line each; NULL: not known. */
const char *ki_d_match_events(struct ki_d_match *m);

/* One that is there: its index. */
int ki_d_found_again(struct ki_d_match *m, uint32_t probe);

/* points.c */
int ki_d_find_points(struct ki_d_match *m, const struct ki_d_provider *self);
void ki_d_listed_free(struct ki_d_match *m);

/* cpc.c */
int ki_d_find_cpc(struct ki_d_match *m, const struct ki_d_provider *self);

/* stable.c */
int ki_d_find_stable(struct ki_d_match *m, const struct ki_d_provider *self);
int ki_d_find_events(struct ki_d_match *m, const struct ki_d_provider *self);

/* Which numbers probes have: those of functions are the same in all programs. */
#define KI_D_FIRST_STABLE   100
#define KI_D_FIRST_EVENT    1000
#define KI_D_FIRST_FUNCTION 30000

static inline bool ki_d_probe_is(const struct ki_d_probe *p, const char *provider)
{
	const char *name = ki_d_provider_name(p);

	for (; *name && *name == *provider; name++, provider++)
		;
	return *name == *provider;
}

#endif
