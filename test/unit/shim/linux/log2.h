/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SHIM_LOG2_H
#define SHIM_LOG2_H

#define ilog2(n) (31u - (unsigned int)__builtin_clz(n))

#endif
