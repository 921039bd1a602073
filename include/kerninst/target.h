/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A target: an address space whose code can be read. The live kernel (through the driver), a live
 * process, or an ELF image on disk; that lets every analysis run and be tested without a kernel.
 *
 * A target is not changed by reading it; use one target in one thread at a time. Pointers that
 * are returned live as long as the target.
 */
#ifndef KERNINST_TARGET_H
#define KERNINST_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "kerninst/err.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ki_target;

enum ki_target_kind { KI_TARGET_LIVE, KI_TARGET_IMAGE, KI_TARGET_PROCESS };

/* A text symbol. Aliases (symbols of one address) stand next to each other in the table. */
struct ki_symbol {
	uint64_t addr;
	uint64_t size; /* bytes up to the next symbol of another address, or to the end
			  of its text range; padding after the code is included */
	const char *name;
	const char *module; /* "" for the kernel itself */
	bool alias;	    /* an earlier symbol of the table has the same address */
	bool local;	    /* of a process's file: other files do not see it */
};

/* A contiguous piece of text: the kernel's own, or one module's. */
struct ki_text_range {
	uint64_t start, end;
	const char *module; /* "" for the kernel itself */
};

/*
 * The running kernel: opens KI_DEVICE (the session!), checks the ABI, reads /proc/kallsyms. Who may
 * not write to the device opens it for reading: then what changes anything is refused later.
 * Symbols outside the kernel's text and the modules' are left out (init text, BPF, ftrace
 * trampolines). Errors carry KI_R_NO_DEVICE, KI_R_NO_PERMISSION, KI_R_ABI_MISMATCH,
 * KI_R_LOCKDOWN or KI_R_NO_SYMBOLS where they fit.
 */
int ki_target_new_live(struct ki_target **out, struct ki_err *err);

/*
 * An x86-64 ELF image (vmlinux, a module, a program). FUNC and NOTYPE symbols in executable
 * sections; .symtab, or else .dynsym. Both views are the file's bytes.
 *
 * Relocatable files are laid out section after section, in the order of their headers: code from
 * address 0, then from the next page on what else is loaded. They are relocated by R_X86_64_64,
 * 32, 32S, 16, 8 and their PC-relative kin, and PLT32; others leave the bytes. What is defined
 * elsewhere stands after, from the next page on, 16 bytes for each number in the symbol table.
 * Only ki_target_symbol_at knows these symbols, at their very addresses: module "", 1 byte, no
 * text. Position-independent ones are as if they were loaded at 0 (R_X86_64_RELATIVE).
 */
int ki_target_new_image(const char *path, struct ki_target **out, struct ki_err *err);

/*
 * The same with the symbols of a System.map ("ffffffff81000000 T _text" in each line) instead of
 * the image's own. When path is NULL it is the core of a live kernel. Then the file's symbols
 * replace those of kallsyms for the kernel itself, and modules keep theirs. A file with a bad line
 * is refused, and so is a file that does not fit: no symbol of it lies in the text, or the text
 * between its _stext and _etext is not the kernel's. The latter is the file of another kernel, or,
 * live, KASLR.
 */
int ki_target_new_with_map(const char *path, const char *system_map, struct ki_target **out,
			   struct ki_err *err);

/*
 * A live process of x86-64 that the caller may trace (ptrace(2)); it is not stopped. Its modules
 * are the files whose code it has mapped, the program's own too, by the last parts of their paths:
 * "bash", "libc.so.6". Symbols are those of the files; a function without one that the tables for
 * exceptions know is called sub_ADDRESS, of the file. Text is what stood in memory when the target
 * was opened (KI_VIEW_ORIG), or stands there now. Code without a file is no text: the vdso, what a
 * JIT compiler made.
 *
 * Errors: -ESRCH; KI_R_PROCESS_PERMISSION; KI_R_PROCESS_32BIT.
 */
int ki_target_new_process(pid_t pid, struct ki_target **out, struct ki_err *err);

/*
 * What has come and gone in a process since it was opened, or asked the last time: files of code
 * that it has mapped or unmapped (dlopen, dlclose). That it has become another program (execve),
 * or has ended, is told once. The target stays as it was: who wants what is new opens another one.
 * Costs a reading of its mappings. Caller frees *out. -EINVAL: it is no process.
 */
enum ki_change_kind { KI_CHANGE_MAPPED, KI_CHANGE_UNMAPPED, KI_CHANGE_BECAME, KI_CHANGE_ENDED };

struct ki_change {
	uint8_t kind;
	uint64_t addr, len; /* of the mapping */
	char module[256];
};

int ki_target_changes(struct ki_target *t, struct ki_change **out, size_t *n, struct ki_err *err);

/*
 * Look for symbols again: modules that have been loaded or unloaded since. *changed says if the
 * tables are new; then every pointer that this header gave out before, and functions and
 * programs made from them, are invalid. An image never changes.
 */
int ki_target_refresh(struct ki_target *t, bool *changed, struct ki_err *err);

void ki_target_free(struct ki_target *t); /* NULL is allowed */

enum ki_target_kind ki_target_kind(const struct ki_target *t);

/* The session's descriptor of a live target; -1 for an image or a process. Owned by the target. */
int ki_target_fd(const struct ki_target *t);

/* The driver's facts when the target was opened; NULL for an image or a process. */
const struct ki_info *ki_target_info(const struct ki_target *t);

/* Copy text, of patches too (from the heap, see ki_info). -EFAULT if not all of it is text. */
int ki_target_read(struct ki_target *t, uint64_t addr, void *buf, size_t len, enum ki_view view,
		   struct ki_err *err);

/*
 * Copy bytes that need not be text: tables of constants. An image: any loaded section. The
 * live kernel: /proc/kcore. -EFAULT if not all of it can be read.
 */
int ki_target_read_data(struct ki_target *t, uint64_t addr, void *buf, size_t len,
			struct ki_err *err);

/*
 * Write what the process itself could write, while its threads go on: data, not text. -EFAULT: not
 * all of it can be written, and what stands before that may have been. -ESRCH: it has ended, or
 * become another program. -EOPNOTSUPP: of the kernel only a session's own variables are written
 * (ki_global_set), of a file nothing.
 */
int ki_target_write_data(struct ki_target *t, uint64_t addr, const void *buf, size_t len,
			 struct ki_err *err);

/* All text ranges in order of address. */
const struct ki_text_range *ki_target_ranges(const struct ki_target *t, size_t *count);

/* All text symbols in order of address; aliases in the order of their source. */
const struct ki_symbol *ki_target_symbols(const struct ki_target *t, size_t *count);

/* The first symbol of the address that covers addr; NULL if none does. O(log n). */
const struct ki_symbol *ki_target_symbol_at(const struct ki_target *t, uint64_t addr);

/* The next symbol called name in module ("" the kernel, NULL any), after `after` (NULL: first). */
const struct ki_symbol *ki_target_symbol_named(const struct ki_target *t, const char *module,
					       const char *name, const struct ki_symbol *after);

/*
 * Rows of reserved text that touch [start, end), in order of address; *rows points into the
 * target's own table, so between rows that touch there may be others that do not (after a
 * long row). The table is read once, when first asked for. Of an image: what its exception, bug,
 * jump-label and static-call tables and the kprobes' list tell, if it has them; code of special
 * sections (init text too, which an image has), and the functions that the driver knows by name.
 */
int ki_target_reserved(struct ki_target *t, uint64_t start, uint64_t end,
		       const struct ki_reserved_row **rows, size_t *count, struct ki_err *err);

/*
 * Hash of the text of the kernel and of all modules but the driver's own, as it is now
 * (KI_VIEW_LIVE). The kernel itself rewrites some sites at run time: ftrace sites, static
 * branches, static calls, lock prefixes. Their bytes are taken as zero. 128 bits (XXH3), in hex
 * with its terminator. Equal hashes: equal text. Modules are those that were there when the target
 * was opened; one that has been unloaded since is left out. Of a process: the text of its files, as
 * it was mapped when the target was opened, each byte; -EFAULT or -ESRCH when it has ended.
 */
#define KI_TEXT_HASH_LEN 33
int ki_target_text_hash(struct ki_target *t, char hash[KI_TEXT_HASH_LEN], struct ki_err *err);

/*
 * Keep the text of the kernel and of all modules but the driver's own in a file: as it is now
 * (KI_VIEW_LIVE) or is without what sessions have put in (KI_VIEW_ORIG); without the bytes that the
 * hash leaves out. Errors: those of writing the file; -ENOMEM.
 */
int ki_target_text_keep(struct ki_target *t, const char *path, enum ki_view view,
			struct ki_err *err);

struct ki_text_change {
	uint64_t compared;  /* bytes */
	uint64_t differing; /* of them */
	uint64_t gone;	    /* ranges of modules that are not there any more, or elsewhere */
	uint64_t addr;	    /* of the first that differs; 0: none does */
	uint8_t was[16], is[16];
	size_t len; /* of was and is, from addr on */
};

/*
 * What has become of the text since it was kept. Modules that came later are not looked at.
 * Errors: -EINVAL: no such file's form; -ESTALE: it is of another boot; those of reading it.
 */
int ki_target_text_compare(struct ki_target *t, const char *path, struct ki_text_change *out,
			   struct ki_err *err);

/* The name of a symbol's module as people write it: "kernel" for the kernel itself. */
const char *ki_symbol_module(const struct ki_symbol *sym);

#ifdef __cplusplus
}
#endif

#endif
