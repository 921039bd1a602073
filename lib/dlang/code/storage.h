/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef KI_DLANG_STORAGE_H
#define KI_DLANG_STORAGE_H

#include "dlang/run/run.h"

/* Take what the program's variables, aggregations and records need. */
int ki_d_storage(struct ki_dlang *d, struct ki_err *err);

#endif
