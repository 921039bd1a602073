/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The driver's own check of long chunks (kmod/vet/vet_long.c, vet_memory.c, vet_forms.c, form.c)
 * and its copies of instructions (copy.c), compiled into this process over the decoders of all
 * kernels (test/decoder), which must agree.
 */
#ifndef COMMON_DRV_H
#define COMMON_DRV_H

#include <stdbool.h>
#include <stdint.h>

#include "uapi/kerninst.h"

#define DRV_WORDS 400
#define DRV_RINGS 3

/* Tables of each number of words in a key, of the CPUs and shared. */
#define DRV_TABLES	    (2 * KI_TABLE_KEYS)
#define DRV_TABLE_KEYS(n)   (1 + (n) % KI_TABLE_KEYS)
#define DRV_TABLE_SHARED(n) ((n) >= KI_TABLE_KEYS)
#define DRV_TABLE_VALUES    100

/*
 * KI_R_OK, or the driver's reason. Counters and globals from 0 to these numbers are owned, words of
 * threads from 0 to DRV_WORDS, rings and tables of stacks from 0 to DRV_RINGS, tables from 0 to
 * DRV_TABLES.
 */
unsigned int drv_vet_long(const uint8_t *code, uint32_t len, const struct ki_fixup *fix,
			  uint32_t nfix, uint32_t counters, uint32_t globals);

/* What the driver makes of one instruction. */
struct drv_instr {
	uint8_t len, is, size, bytes; /* is: enum ki_form_class; bytes: of its memory */
	uint16_t written;	      /* a bit for each register */
	uint8_t memory, gs, lock;
	uint8_t zero[7];
	int64_t imm;
};

/* May it run, as far as one instruction by itself tells? */
bool drv_read(const uint8_t *code, uint32_t len, struct drv_instr *out);

/*
 * KI_R_OK, or why it has no copy; what it does to control flow: KI_FLOW_* of the driver. By the
 * decoder of 6.1 (0) or 6.12 (1): the later one knows more instructions.
 */
#define DRV_KERNELS 2
struct drv_original {
	uint64_t addr;
	const uint8_t *bytes;
	uint32_t len;
};
unsigned int drv_copy(unsigned int kernel, const struct drv_original *of, struct ki_copy *out,
		      uint8_t *flow);

#endif
