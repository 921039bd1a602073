/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * -h, -G: what a program of C is compiled and linked with that is to have probes in it.
 */
#ifndef KDTRACE_MADE_H
#define KDTRACE_MADE_H

#include "options.h"

/* How to end. */
int make_files(const struct options *o, const struct ki_dlang *d);

#endif
