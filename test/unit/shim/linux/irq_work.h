/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SHIM_IRQ_WORK_H
#define SHIM_IRQ_WORK_H

struct irq_work {
	int unused;
};

#endif
