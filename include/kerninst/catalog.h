/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What there is: metrics, events, reasons of refusal, instruments, sessions. Each as a table,
 * or as JSON. 0; -ENOMEM; -EIO and the like: writing failed.
 */
#ifndef KERNINST_CATALOG_H
#define KERNINST_CATALOG_H

#include "kerninst/page.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ki_callables;
struct ki_target;

/* What can be measured; verbose: also by which code, and whether it can be here. */
int ki_metrics_show(const struct ki_page *page);

/* The events of processor and kernel: which are counted here, which not and why; and the sessions
   that count some, if the driver is there to say. One object, if it is JSON. */
int ki_events_show(const struct ki_page *page);

/* Who has the device of a live kernel open, and what each has put in; verbose: also each window. */
int ki_sessions_show(const struct ki_target *t, const struct ki_page *page);

/* One reason of refusal: what it means, and what to do instead. */
int ki_reason_show(unsigned int reason, const struct ki_page *page);

/*
 * Functions of modules that expressions can call. loaded: they are those of the running kernel, so
 * who uses them is known; verbose: also what these modules show of themselves now.
 */
int ki_callables_show(const struct ki_callables *list, bool loaded, const struct ki_page *page);

#ifdef __cplusplus
}
#endif

#endif
