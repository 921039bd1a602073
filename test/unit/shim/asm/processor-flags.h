/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SHIM_PROCESSOR_FLAGS_H
#define SHIM_PROCESSOR_FLAGS_H

#define X86_EFLAGS_AC 0x40000ul

#endif
