/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SHIM_ORC_TYPES_H
#define SHIM_ORC_TYPES_H

struct orc_entry {
	short sp_offset, bp_offset;
	unsigned short rest;
} __attribute__((packed));

#endif
