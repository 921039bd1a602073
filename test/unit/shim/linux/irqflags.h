/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SHIM_IRQFLAGS_H
#define SHIM_IRQFLAGS_H

#define raw_local_irq_save(flags)    ((void)((flags) = 0))
#define raw_local_irq_restore(flags) ((void)(flags))
#define native_save_fl()	     0ul

#endif
