/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef KI_TARGET_MARKS_H
#define KI_TARGET_MARKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Where a kernel's text, its pieces and its tables begin and end. Most of these names are the
 * linker script's and no code, so the table of symbols does not have them.
 */
enum ki_mark {
	KI_MARK_STEXT,
	KI_MARK_ETEXT,
	KI_MARK_INIT_BEGIN,
	KI_MARK_INIT_END,
	KI_MARK_EXTABLE,
	KI_MARK_EXTABLE_END,
	KI_MARK_BUG,
	KI_MARK_BUG_END,
	KI_MARK_JUMP,
	KI_MARK_JUMP_END,
	KI_MARK_STATIC_CALL,
	KI_MARK_STATIC_CALL_END,
	KI_MARK_BLACKLIST,
	KI_MARK_BLACKLIST_END,
	KI_MARK_RANGES, /* from here on the pieces of text of uapi/kerninst_reserved.def */
	KI_MARK_COUNT = KI_MARK_RANGES + 2 * 16,
};

struct ki_marks {
	uint64_t addr[KI_MARK_COUNT];
	bool known[KI_MARK_COUNT];
};

/* A symbol of any type has been read. The first of a name counts. */
void ki_marks_note(struct ki_marks *m, const char *name, uint64_t addr);

/* Both ends of what begins at mark `first`, and not the wrong way round. */
bool ki_marks_pair(const struct ki_marks *m, int first, uint64_t *start, uint64_t *end);

#endif
