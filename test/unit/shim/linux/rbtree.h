/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SHIM_RBTREE_H
#define SHIM_RBTREE_H

/* As much of the kernel's as the driver's declarations need. */
struct rb_node {
	struct rb_node *left, *right;
};

struct rb_root {
	struct rb_node *rb_node;
};

#endif
