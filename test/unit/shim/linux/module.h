/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SHIM_MODULE_H
#define SHIM_MODULE_H

/* What the driver's tables of rows need of a module. */
struct orc_entry;
struct bug_entry;

struct exception_table_entry {
	int insn, fixup, data;
};

struct module {
	struct {
		int *orc_unwind_ip;
		struct orc_entry *orc_unwind;
		unsigned int num_orcs;
	} arch;
	struct exception_table_entry *extable;
	unsigned int num_exentries;
};

#endif
