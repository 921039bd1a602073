/* SPDX-License-Identifier: GPL-2.0-only */
/* test/decoder/drv.c has what is needed of it. */
