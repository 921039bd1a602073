/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef KI_UTIL_USER_H
#define KI_UTIL_USER_H

#include <stdint.h>

/* A user's name, or number if it has none. */
#define KI_USER_NAME 64
void ki_user_name(uint32_t uid, char out[KI_USER_NAME]);

#endif
