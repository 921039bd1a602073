/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The window of a run that a plugin looks at: a program in the guest executes two long nops,
 *
 *	0f 1f 84 00 44 33 22 11		begin
 *	0f 1f 84 00 55 33 22 11		end
 */
#ifndef KI_TEST_PLUGIN_MARKS_H
#define KI_TEST_PLUGIN_MARKS_H

#include <string.h>

#include "qemu_api.h"

#define MARK_LEN 8

static void on_begin(unsigned int vcpu, void *data);
static void on_end(unsigned int vcpu, void *data);

static void mark_check(struct qemu_plugin_insn *insn)
{
	static const uint8_t begin[MARK_LEN] = {0x0f, 0x1f, 0x84, 0x00, 0x44, 0x33, 0x22, 0x11};
	static const uint8_t end[MARK_LEN] = {0x0f, 0x1f, 0x84, 0x00, 0x55, 0x33, 0x22, 0x11};
	uint8_t bytes[MARK_LEN];

	if (qemu_plugin_insn_size(insn) != MARK_LEN ||
	    qemu_plugin_insn_data(insn, bytes, MARK_LEN) != MARK_LEN)
		return;
	if (!memcmp(bytes, begin, MARK_LEN))
		qemu_plugin_register_vcpu_insn_exec_cb(insn, on_begin, QEMU_CB_NO_REGS, NULL);
	else if (!memcmp(bytes, end, MARK_LEN))
		qemu_plugin_register_vcpu_insn_exec_cb(insn, on_end, QEMU_CB_NO_REGS, NULL);
}

#endif
