/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The program as it has been read, and as it has been checked: a line for each node, with its type.
 */
#ifndef KI_DLANG_TREE_H
#define KI_DLANG_TREE_H

#include "dlang/program.h"

/* After which pass: it has been read; its names and types are known; nothing more is to be done. */
enum { KI_D_TREE_READ = 1, KI_D_TREE_CHECKED = 2, KI_D_TREE_COOKED = 4 };

/* All clauses, to where the program's options want trees, if option tree has that bit. */
void ki_d_tree_print(const struct ki_dlang *d, unsigned int pass);

#endif
