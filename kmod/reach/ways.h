/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KI_WAYS_H
#define KI_WAYS_H

#define KI_RETURNS 16384 /* bytes of ki_returned */

#endif
