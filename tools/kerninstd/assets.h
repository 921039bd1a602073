/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The page, as web/dist has it, in the program.
 */
#ifndef KERNINSTD_ASSETS_H
#define KERNINSTD_ASSETS_H

#include <stddef.h>

struct asset {
	const char *path; /* "/app.js" */
	const char *type;
	const char *start, *end;
};

const struct asset *asset_find(const char *path); /* NULL: there is none */

/* Quoted, of what it holds. */
void asset_tag(const struct asset *a, char tag[24]);

#endif
