/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A recording in a file of its own, for a group of tests (kept_make and kept_remove), and its
 * bytes.
 */
#ifndef KI_TEST_COMMON_KEPT_H
#define KI_TEST_COMMON_KEPT_H

#include <stddef.h>

extern char kept_path[];
extern char *kept_bytes; /* of the whole file, freed with the group */
extern size_t kept_size;

int kept_make(void **state);
int kept_remove(void **state);
void kept_read(size_t most);

#endif
