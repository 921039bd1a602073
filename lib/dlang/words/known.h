/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What is declared when its name is asked for: known.c, and known_net.c of networks.
 */
#ifndef KI_DLANG_KNOWN_H
#define KI_DLANG_KNOWN_H

struct ki_d_known_row {
	const char *name, *text;
};

#define KI_D_KNOWN_NETWORKS 15
extern const struct ki_d_known_row ki_d_known_networks[KI_D_KNOWN_NETWORKS];

#endif
