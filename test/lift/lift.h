/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A kernel's image lifted into this process: its code and data where a process may have them, so
 * that its functions can be called, and what is made of them executed by this very processor.
 *
 * The image is moved as the kernel moves itself when it boots (KASLR): the relocations after the
 * unpacked image name each place that holds an address. What asks for privileges ends in a signal.
 */
#ifndef LIFT_H
#define LIFT_H

#include <stddef.h>
#include <stdint.h>

#include "kerninst/target.h"

#define LIFT_PAGE  4096u
#define LIFT_PATCH (1u << 20) /* bytes for what is made of functions, in reach of them */

struct lift {
	struct ki_target *target; /* the image where it is now */
	uint64_t text, text_end;  /* that may be written and executed */
	uint64_t data, data_end;  /* all after it */
	uint8_t *percpu;	  /* of one CPU, at the base of %gs */
	size_t percpu_len;
	uint8_t *patch;
};

/* 0; -1: errno, or a line on stderr, says why. One in a process. */
int lift_open(const char *vmlinux, const char *system_map, struct lift *out);
void lift_close(struct lift *l);

/* Where a symbol of the kernel is now; of per-CPU data: where in that. 0: there is none. */
uint64_t lift_symbol(const char *system_map, const char *name);

/* Where an address is now at which the kernel is linked; 0: it is none of the image. */
uint64_t lift_moved(const struct lift *l, uint64_t linked);

#endif
