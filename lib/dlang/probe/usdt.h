/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Files that have notes about probes which are written into them: usdt_file.c. What args[] of such
 * a probe is: usdt_types.c.
 */
#ifndef KI_DLANG_USDT_H
#define KI_DLANG_USDT_H

#include <sys/types.h>

#include "dlang/probe/notes.h"
#include "dlang/program.h"
#include "target/elf.h"
#include "target/process_maps.h"

#define KI_D_USDT_NAME 128
#define KI_D_USDT_OWN  32 /* arguments that a probe of a program may have; fewer are seen */

struct ki_d_usdt_file {
	const char *path;
	void *arg;
	struct ki_elf elf;
	uint64_t base;	/* of .stapsdt.base; 0: there is none */
	uint8_t *types; /* the bytes of .note.usdt; NULL: there is none */
	uint64_t types_len;
};

/* Each of its notes, told with it as take's arg; what take returns, if that is not 0, ends it. */
int ki_d_usdt_look(struct ki_d_usdt_file *at, ki_d_note_take *take);

/* The same of each file that code of the process is from, with that arg; wants: only those whose
   mapping it says yes to, NULL: all. 0 also if there is no such process. */
typedef bool ki_d_usdt_wants(void *arg, const struct ki_mapping *map);
int ki_d_usdt_each(pid_t pid, ki_d_usdt_wants *wants, ki_d_note_take *take, void *arg);

/* While notes are told: where in the file stands what the linker gave that address; 0: nowhere. The
   string there; false: there is none that fits. */
uint64_t ki_d_usdt_offset(const struct ki_d_usdt_file *at, uint64_t addr);
bool ki_d_usdt_string(struct ki_d_usdt_file *at, uint64_t addr, char to[KI_D_USDT_NAME]);

/* The same of what a note says of its probe's arguments, in whichever section of the file. */
enum ki_d_notes_have ki_d_usdt_noted(const struct ki_d_usdt_file *at, const struct ki_d_note *n,
				     struct ki_d_noted *out);

/* Names as D has them: the provider's with the process's number, the probe's with hyphens. */
void ki_d_usdt_provider(const struct ki_d_note *n, pid_t pid, char to[KI_D_USDT_NAME]);
void ki_d_usdt_name(const struct ki_d_note *n, char to[KI_D_USDT_NAME]);

/* usdt.c: the number at the end of "python1234": the target's, if it ends so; 0: of any. */
pid_t ki_d_usdt_pid(const struct ki_dlang *d, const char *field);

/* What programs say of args[i] of the probes that the fields of a description mean. */
enum ki_d_usdt_says {
	KI_D_USDT_SILENT,  /* nothing */
	KI_D_USDT_TYPE,	   /* *type */
	KI_D_USDT_UNKNOWN, /* a type that this program does not know */
	KI_D_USDT_NONE,	   /* there is no such argument */
	KI_D_USDT_DIFFERS, /* it is not the same for all of them */
};
enum ki_d_usdt_says ki_d_usdt_type(struct ki_dlang *d, const char *const field[4], uint64_t i,
				   struct ki_d_type *type);

#endif
