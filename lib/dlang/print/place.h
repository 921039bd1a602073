/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Addresses by name: what sym(), mod(), usym(), umod() and uaddr() print.
 */
#ifndef KI_DLANG_PLACE_H
#define KI_DLANG_PLACE_H

#include "dlang/words/names.h"

/* The words of a value are those of its form: the address, or a process and the address. */
#define KI_D_ADDRESS 256
const char *ki_d_place_text(struct ki_dlang *d, enum ki_d_place place, const uint64_t *words,
			    char text[KI_D_ADDRESS]);

/* module`function+0x12 of an address of the kernel; 0x... where nothing is known. */
const char *ki_d_address(const struct ki_dlang *d, uint64_t addr, char text[KI_D_ADDRESS]);
/* file`function+0x12 of a process. */
const char *ki_d_user_address(struct ki_dlang *d, uint32_t tgid, uint64_t addr,
			      char text[KI_D_ADDRESS]);

/* All addresses that are one place become one: the function's, the module's, the file's. */
void ki_d_place_first(struct ki_dlang *d, enum ki_d_place place, uint64_t *words);

/*
 * Of n stacks, whose numbers are words[0], words[stride] ..., those that begin with the same frames
 * become the first of them.
 */
void ki_d_stacks_first(struct ki_dlang *d, unsigned int frames, uint64_t *words, size_t n,
		       size_t stride);

/* Look at a process while it lives. */
void ki_d_place_look(struct ki_dlang *d, uint32_t tgid);

#endif
