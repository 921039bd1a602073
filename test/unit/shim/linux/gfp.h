/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SHIM_GFP_H
#define SHIM_GFP_H

#define GFP_KERNEL_ACCOUNT  0
#define __GFP_RETRY_MAYFAIL 0
#define __GFP_NOWARN	    0

#endif
