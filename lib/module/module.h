/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Code of ours as a genuine kernel module.
 *
 * What is made here is what a compiler and modpost would have made: an ELF relocatable file that
 * init_module() takes. The kernel gives its functions names in kallsyms, unwinds through them by
 * their rows, finds their fixups of faults and their BUGs, and changes their static branches and
 * static calls. No compiler and no headers are needed: what a module must say of its kernel
 * (vermagic, the version of module_layout, where struct module has its parts) is read from the
 * kernel that runs.
 */
#ifndef KI_MODULE_H
#define KI_MODULE_H

#include "kerninst/target.h"

/*
 * A place in the code that says where something is: value = target + addend, for PC32 less its own
 * address. What lies in a static branch or a static call is passed over: those say it themselves.
 */
enum ki_module_fix_kind { KI_MODULE_PC32, KI_MODULE_ABS32S, KI_MODULE_ABS64 };

struct ki_module_fix {
	uint32_t off; /* in the code, of its first byte */
	uint8_t kind; /* enum ki_module_fix_kind */
	bool inside;  /* target is an offset in the code; else an address of the kernel's */
	uint64_t target;
	int64_t addend; /* as ELF's: -4 for a displacement that ends its instruction */
};

struct ki_module_function {
	const char *name;
	uint32_t off, size;
};

/* From off on, until the next row, the unwinder uses these bytes, as the kernel's tables hold them.
 */
struct ki_module_row {
	uint32_t off;
	uint8_t row[8]; /* the first row_size of them */
};

/* A target of control that is in the code, or the kernel's. */
struct ki_module_place {
	bool inside;
	uint64_t at; /* offset in the code, or address */
};

/* What a static branch is before anybody changes its key; 0: not known, which is refused. */
enum ki_module_first { KI_MODULE_NOP = 1, KI_MODULE_JUMP };

/*
 * A static branch: at off stands a jump or a nop, of 2 or 5 bytes, in either state. A target that
 * is not inside needs 5.
 */
struct ki_module_jump {
	uint32_t off;
	uint8_t first; /* enum ki_module_first, of ki_module_first_states */
	struct ki_module_place target;
	uint64_t key; /* struct static_key's address, with the low bits as the table has them */
};

/* A static call: at off stands what the kernel has put there, of 5 bytes (6: a jump on condition).
 */
struct ki_module_call {
	uint32_t off;
	uint64_t
		key; /* struct static_call_key's address, with the low bits as the table has them */
};

struct ki_module_fault { /* a row of the exception table */
	uint32_t off;
	struct ki_module_place fixup;
	uint32_t data; /* the row's third word */
};

struct ki_module_bug { /* a row of the bug table */
	uint32_t off;
	uint64_t file; /* the name's address; 0: none */
	uint16_t line, flags;
};

/* All of it; the arrays are the caller's, each in order of off. After the code nothing is unwound.
 */
struct ki_module_code {
	const char *name; /* the module's: letters, digits, _; at most 55 */
	const uint8_t *code;
	size_t len, row_size;
	const struct ki_module_fix *fixes;
	const struct ki_module_function *functions;
	const struct ki_module_row *rows;
	const struct ki_module_jump *jumps;
	const struct ki_module_call *calls;
	const struct ki_module_fault *faults;
	const struct ki_module_bug *bugs;
	size_t nfixes, nfunctions, nrows, njumps, ncalls, nfaults, nbugs;
};

/* What a module must say of the kernel that it is for. */
struct ki_module_kernel {
	char vermagic[256];
	uint32_t layout_crc;  /* of module_layout */
	bool versions;	      /* the kernel asks for it */
	uint32_t module_size; /* sizeof(struct module) */
	uint32_t name_offset;
	uint32_t bug_size; /* of a row of the bug table; other than 12: no bugs can be told */
};

/* Read it from a live kernel. -ENOTSUP: it has no types (BTF), or takes no modules; with err. */
int ki_module_kernel_read(struct ki_target *t, struct ki_module_kernel *out, struct ki_err *err);

/* Fill in `first` of n static branches: the live kernel's keys tell. */
int ki_module_first_states(struct ki_target *t, struct ki_module_jump *jumps, size_t n,
			   struct ki_err *err);

/*
 * *out: the file, *size bytes; free(). A function of data. -EINVAL: what is asked for cannot be;
 * -ERANGE: a place is too far away for its 1 or 4 bytes.
 */
int ki_module_build(const struct ki_module_kernel *k, const struct ki_module_code *c, void **out,
		    size_t *size, struct ki_err *err);

/*
 * Load it, take it out again. CAP_SYS_MODULE. The target's symbols know its functions afterwards,
 * or no more: ki_target_refresh has been called, and pointers into the target are invalid.
 * -EPERM: lockdown, modules_disabled, no capability; -EKEYREJECTED: only signed modules are taken;
 * -EEXIST: the name is taken; -EBUSY: it is still used (take out what leads there first); -ENOENT:
 * there is no such module; all with err that says what, why and what to do instead.
 *
 * The kernel knows of no module that the code names places of: the caller keeps those loaded for as
 * long. Unloading is refused, -EBUSY, while a task sleeps in the code, as /proc/PID/stack tells.
 * That nobody runs there is so when what led there was a replacement of the driver's: it lets go of
 * the module only when each task has slept, or has been in user space, since.
 */
int ki_module_load(struct ki_target *t, const void *file, size_t size, struct ki_err *err);
int ki_module_unload(struct ki_target *t, const char *name, struct ki_err *err);

#endif
