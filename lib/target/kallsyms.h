/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef KI_TARGET_KALLSYMS_H
#define KI_TARGET_KALLSYMS_H

#include "target/priv.h"

/* A loaded module, and its lowest and highest t or T symbol. */
struct ki_kmod {
	uint32_t name;
	uint64_t low, high;
};

struct ki_kallsyms {
	struct ki_symbol_list list;
	ki_vec(struct ki_kmod) modules;
	bool addresses; /* some address is not 0 */
};

/*
 * Read the t, T, w and W symbols of a file in the format of /proc/kallsyms, without the pseudo
 * modules of BPF, ftrace and kprobes. The caller frees, on failure too.
 */
int ki_kallsyms_read(const char *path, struct ki_kallsyms *out, struct ki_err *err);
void ki_kallsyms_free(struct ki_kallsyms *k);

#endif
