/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * How stable names are, as programs and lists tell it: Evolving/Private/ISA.
 */
#ifndef KI_DLANG_ATTRIBUTES_H
#define KI_DLANG_ATTRIBUTES_H

#include <stdbool.h>
#include <stdint.h>

/* From the least on. */
enum ki_d_level {
	KI_D_INTERNAL,
	KI_D_PRIVATE,
	KI_D_OBSOLETE,
	KI_D_EXTERNAL,
	KI_D_UNSTABLE,
	KI_D_EVOLVING,
	KI_D_STABLE,
	KI_D_STANDARD,
	KI_D_LEVELS
};

enum ki_d_class {
	KI_D_UNKNOWN,
	KI_D_OF_CPU,
	KI_D_PLATFORM,
	KI_D_GROUP,
	KI_D_ISA,
	KI_D_COMMON,
	KI_D_CLASSES
};

struct ki_d_attributes {
	uint8_t names, data, class;
};

/* "NAMES/DATA/CLASS": false: it is none. The text is cut into pieces. */
bool ki_d_attributes_of(char *text, struct ki_d_attributes *out);

/* As a number that is not 0, and back. */
int64_t ki_d_attributes_packed(struct ki_d_attributes a);
struct ki_d_attributes ki_d_attributes_unpacked(int64_t n);

#endif
