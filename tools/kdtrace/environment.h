/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KDTRACE_ENVIRONMENT_H
#define KDTRACE_ENVIRONMENT_H

#include "options.h"

/*
 * Options of the environment, which those of the command line come after: DTRACE_OPT_NAME=VALUE is
 * -x name=VALUE. _DTRACE_TESTING, as test suites of D set it, is -x plain.
 */
bool environment_take(struct options *o);

#endif
