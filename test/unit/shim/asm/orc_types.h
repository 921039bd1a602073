/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SHIM_ORC_TYPES_H
#define SHIM_ORC_TYPES_H

#define ORC_REG_SP  5
#define KI_ORC_CALL 0

struct orc_entry {
	short sp_offset, bp_offset;
	unsigned short rest;
	unsigned char sp_reg, type;
} __attribute__((packed));

#endif
