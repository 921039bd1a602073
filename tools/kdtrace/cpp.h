/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The C preprocessor, and what -x says to it.
 */
#ifndef KDTRACE_CPP_H
#define KDTRACE_CPP_H

#include "options.h"

/* An argument of cpp: "-D", "NAME". */
bool cpp_option(struct options *o, const char *option, const char *value);

/* a, c, s, t: s is a C without __STDC__. False: it is none of these. */
bool cpp_standard(struct options *o, const char *text);

/* NAME[=VALUE] of -x: those that are cpp's are done. False: it is no value, and that was said. */
bool cpp_set(struct options *o, const char *text);

/* Each program through cpp, after all options are known. False: it failed, and that was said. */
bool cpp_programs(struct options *o);

#endif
