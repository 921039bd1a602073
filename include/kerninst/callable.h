/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Instruments written in C (kerninst/instrument.h below include/module): what loaded modules, or
 * the file of one, say that they have. Expressions call them by name.
 */
#ifndef KERNINST_CALLABLE_H
#define KERNINST_CALLABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kerninst/err.h"

#ifdef __cplusplus
extern "C" {
#endif

#define KI_INSTRUMENT_ABI  1 /* KI_INSTRUMENT_VERSION of the modules that can be used */
#define KI_CALLABLE_PARAMS 6 /* at most */

struct ki_callable {
	const char *module, *name;
	uint32_t version;      /* of the interface; if it is another one, nothing else is known */
	bool is_value;	       /* no function, but something that the module shows */
	const char *prototype; /* "(size_t len)" */
	const char *sentence;
	const char *records; /* "[TYPE ]FIELD[/UNIT],...": it writes such records; "": none */
	unsigned int nparams;
	bool takes_id;	 /* its first parameter is ki_id_t */
	bool takes_here; /* its first, or the one after that, is struct ki_here, which is two */
};

struct ki_callables;

/*
 * path NULL: of all loaded modules. Else a directory that looks like /sys/module, or a module's
 * file. Free with ki_callables_free.
 */
int ki_callables_read(const char *path, struct ki_callables **out, struct ki_err *err);
void ki_callables_free(struct ki_callables *c); /* NULL is allowed */

/* In no particular order. */
const struct ki_callable *ki_callables_all(const struct ki_callables *c, size_t *n);

/*
 * The function of that name: -ENOENT if there is none, -EEXIST if several modules have one; of
 * another version: KI_R_INSTRUMENT_VERSION.
 */
int ki_callables_find(const struct ki_callables *c, const char *name,
		      const struct ki_callable **out, struct ki_err *err);

/* Where it is in the running kernel. Reads all of /proc/kallsyms. */
int ki_callable_locate(const struct ki_callable *c, uint64_t *addr, struct ki_err *err);

#ifdef __cplusplus
}
#endif

#endif
