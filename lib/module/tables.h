/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The tables of the running kernel, or of one of its modules: what they say of its code, in the
 * form in which a module of ours is told it (module.h).
 */
#ifndef KI_MODULE_TABLES_H
#define KI_MODULE_TABLES_H

#include "module/module.h"
#include "util/vec.h"

/* A static branch's or call's row: the key, with its low bits as the table has them. */
struct ki_key_row {
	uint64_t addr, key;
};

struct ki_fault_row {
	uint64_t addr, fixup;
	uint32_t data;
};

struct ki_bug_row {
	uint64_t addr, file; /* 0: none */
	uint16_t line, flags;
};

struct ki_module_tables {
	ki_vec(struct ki_key_row) jumps; /* all in order of address */
	ki_vec(struct ki_key_row) calls;
	ki_vec(struct ki_fault_row) faults;
	ki_vec(struct ki_bug_row) bugs; /* none, where a row has another size than ours */
	uint64_t orc_ip, orc;		/* the unwinder's tables; 0: none */
	uint64_t norcs;
};

/*
 * Read them: of the module of that name, "" of the kernel itself. What it has not is empty. A live
 * kernel, or a kernel's image ("" alone; without the unwinder's). -ENOTSUP: a module, and the
 * kernel tells no types. ki_module_tables_free in any case.
 */
int ki_module_tables_read(struct ki_target *t, const char *module, struct ki_module_tables *out,
			  struct ki_err *err);
void ki_module_tables_free(struct ki_module_tables *x);

/* The row of an address, or NULL. */
const struct ki_key_row *ki_module_jump_at(const struct ki_module_tables *x, uint64_t addr);
const struct ki_key_row *ki_module_call_at(const struct ki_module_tables *x, uint64_t addr);
const struct ki_fault_row *ki_module_fault_at(const struct ki_module_tables *x, uint64_t addr);
const struct ki_bug_row *ki_module_bug_at(const struct ki_module_tables *x, uint64_t addr);

#endif
