/* SPDX-License-Identifier: GPL-2.0-only */
/* common_drv.c has what is needed of it. */
