/* SPDX-License-Identifier: GPL-2.0-only */
/* Who needs it has one. */
