/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Notes about probes that are written into a program: the section .note.stapsdt of an ELF file.
 *
 * A note is three addresses (the nop's, that of .stapsdt.base, of a semaphore or 0) and three
 * strings. All are the linker's: what has moved .stapsdt.base since has moved the others as well.
 */
#ifndef KI_DLANG_NOTES_H
#define KI_DLANG_NOTES_H

#include <stdint.h>

struct ki_d_note {
	uint64_t pc, base, semaphore;
	const char *provider, *name, *args;
};

/* Each note of a section, whatever its bytes are; what take returns, if that is not 0, ends it. */
typedef int ki_d_note_take(void *arg, const struct ki_d_note *n);
int ki_d_notes_each(const uint8_t *bytes, uint64_t len, ki_d_note_take *take, void *arg);

#endif
