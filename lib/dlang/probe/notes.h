/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Notes about probes that are written into a program: the sections .note.stapsdt and .note.usdt of
 * an ELF file.
 *
 * One of owner "stapsdt" is three addresses (the nop's, that of .stapsdt.base, of a semaphore or 0)
 * and three strings. All are the linker's: what has moved .stapsdt.base since has moved the others
 * as well. One of owner "usdt" is two addresses (the nop's, that of a function's name) and the same
 * strings, with the number of arguments before the last; those of type 2 are places where the
 * program asks whether the probe is enabled. One of owner "prov" has the types of a provider's
 * probes, and which of their arguments programs of D see.
 */
#ifndef KI_DLANG_NOTES_H
#define KI_DLANG_NOTES_H

#include <stdbool.h>
#include <stdint.h>

struct ki_d_note {
	uint64_t pc, base, semaphore; /* base 0: it says nothing of that */
	uint64_t function;	      /* where its name is; 0: it says nothing of that */
	bool asks;		      /* the argument is where to write whether it is enabled */
	const char *provider, *name, *args;
};

/* Each note of a section, whatever its bytes are; what take returns, if that is not 0, ends it. */
typedef int ki_d_note_take(void *arg, const struct ki_d_note *n);
int ki_d_notes_each(const uint8_t *bytes, uint64_t len, ki_d_note_take *take, void *arg);

/* How many arguments its text has. */
uint32_t ki_d_note_args(const struct ki_d_note *n);

/* What programs of D see of a probe: n arguments; those from KI_D_NOTED_ARGS on are left out. */
#define KI_D_NOTED_ARGS 10
struct ki_d_noted {
	uint32_t own; /* arguments that the program has */
	uint32_t n;
	struct {
		const char *type;
		uint8_t from; /* which of the program's own it is */
	} args[KI_D_NOTED_ARGS];
};

/* Is there a note of the section that says that of the probe, whose provider and name are as the
   program has them? */
enum ki_d_notes_have {
	KI_D_NOTES_NOTHING,
	KI_D_NOTES_OTHERS, /* only of other probes of its provider */
	KI_D_NOTES_TYPES,
};
enum ki_d_notes_have ki_d_notes_types(const uint8_t *bytes, uint64_t len,
				      const struct ki_d_note *of, struct ki_d_noted *out);

#endif
