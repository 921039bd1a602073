/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef KI_TARGET_KALLSYMS_H
#define KI_TARGET_KALLSYMS_H

#include "target/priv.h"

/* A loaded module: where its text begins (its lowest t or T symbol, if nothing says it), and
   its highest such symbol. */
struct ki_kmod {
	uint32_t name;
	uint64_t low, high;
	uint64_t limit; /* its text and data together end here; 0: not known */
};

struct ki_kallsyms {
	struct ki_symbol_list list;
	ki_vec(struct ki_kmod) modules;
	size_t last;	/* the module found last */
	bool addresses; /* some address is not 0 */
};

/*
 * Where modules are, from a file in the format of /proc/modules; to be read before their symbols.
 * Symbols of a module that lie elsewhere are then left out: ftrace keeps the names of init
 * functions in kallsyms, whose memory is another module's by now. A file that cannot be read says
 * nothing.
 */
int ki_kallsyms_modules(const char *path, struct ki_kallsyms *k);

/*
 * Read the t, T, w and W symbols of a file in the format of /proc/kallsyms, without the pseudo
 * modules of BPF, ftrace and kprobes. *out is zero, or knows modules. The caller frees, on failure
 * too.
 */
int ki_kallsyms_read(const char *path, struct ki_kallsyms *out, struct ki_err *err);
void ki_kallsyms_free(struct ki_kallsyms *k);

#endif
