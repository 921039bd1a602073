/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What a recording says of the code that it is about.
 */
#ifndef KI_REPORT_CODE_H
#define KI_REPORT_CODE_H

#include "report/inside.h"

/* Lines of a header: the builds of the kernel and of modules, the graphs of functions. */
void ki_report_code_print(const struct ki_report *c);

/* A JSON object each. 0, or -EIO. */
int ki_report_code_json(const struct ki_report *c);

#endif
