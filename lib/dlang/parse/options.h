/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Options, by their names: #pragma D option, -x, setopt().
 */
#ifndef KI_DLANG_OPTIONS_H
#define KI_DLANG_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "kerninst/err.h"

/* Flags are 0 or 1, rates are nanoseconds. */

#define KI_D_AGGSIZE	(4 << 20) /* as usual */
#define KI_D_DYNVARSIZE (1 << 20)
#define KI_D_BUFSIZE	(4 << 20)
#define KI_D_SPECSIZE	(4 << 20)

/* When a command is to begin: at main(), at its execve, at its entry. */
enum ki_d_evaltime { KI_D_AT_MAIN, KI_D_AT_EXEC, KI_D_AT_ENTRY };

/* Records that come are printed; or, until the end, the newest are kept; or the first. */
enum ki_d_bufpolicy { KI_D_SWITCH, KI_D_RING, KI_D_FILL };

struct ki_d_settings {
	int64_t quiet, flowindent, destructive, zdefs, defaultargs, argref, empty;
	int64_t errtags, droptags, json;
	int64_t aggpercpu, aggsortkey, aggsortkeypos, aggsortpos, aggsortrev;
	int64_t stackframes, ustackframes, stackindent, maxframes;
	int64_t strsize, bufsize, aggsize, dynvarsize, nspec, specsize, scratchsize, printsize, cpu;
	int64_t tregs;
	int64_t tree;	   /* after which passes the program is shown: bits */
	int64_t noresolve; /* addresses of processes have no names */
	int64_t evaltime;  /* enum ki_d_evaltime */
	int64_t pcapsize;
	int64_t switchrate, aggrate, statusrate, rawbytes;
	int64_t pspec;	   /* what may be a declaration or a probe is a probe */
	int64_t bufpolicy; /* enum ki_d_bufpolicy */
	int64_t late;	   /* linkmode=dynamic: variables of the kernel have no address yet, */
	int64_t kdefs;	   /* and one that a program names is an error */
	int64_t amin;	   /* ki_d_attributes_packed; 0: any */
	int64_t plain;	   /* ours: no columns of what differs from run to run */
	int64_t uprobes;   /* ours: no breakpoints of the driver's in processes */
};

/* What a program begins with. */
void ki_d_settings_default(struct ki_d_settings *s);

enum ki_d_when { KI_D_AT_START, KI_D_IN_PROGRAM, KI_D_RUNNING };

/*
 * value NULL: none was given. 0; -ENOENT: there is no such option, -EINVAL: that is no value for
 * it, -EBUSY: not while the program runs, -EPERM: not in a program, -EOPNOTSUPP: not here.
 */
int ki_d_option(struct ki_d_settings *s, const char *name, const char *value, enum ki_d_when when);

/* "Invalid option name" and the like, for what ki_d_option returns. */
const char *ki_d_option_why(int code);

/* A number with k, m, g, t behind it; or a rate: ns ... d, hz; without any, so many in a second. */
int ki_d_size_of(const char *text, int64_t *out);
int ki_d_rate_of(const char *text, int64_t *nanoseconds);

#endif
