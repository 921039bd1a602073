/* SPDX-License-Identifier: GPL-2.0-only */
/* What is needed of the C library. */
#include <string.h>
