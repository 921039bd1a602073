/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a transfer is, by a graph. Every class but CLASS_MISS is one that the graph foresees, or
 * that is none of its business.
 */
#ifndef KI_TEST_CLASSIFY_H
#define KI_TEST_CLASSIFY_H

#include "graph.h"

#define CLASSES(C)                                                                                 \
	C(NEXT, "next instruction of the block")                                                   \
	C(FALL, "falls into the next block")                                                       \
	C(TAKEN, "conditional branch taken")                                                       \
	C(LABEL, "static branch, either way")                                                      \
	C(JUMP, "jump")                                                                            \
	C(TABLE, "jump by a table")                                                                \
	C(CALL, "call, direct")                                                                    \
	C(CALL_INDIRECT, "call, indirect")                                                         \
	C(STATIC_CALL, "static call")                                                              \
	C(TAIL, "tail jump, direct")                                                               \
	C(TAIL_INDIRECT, "tail jump, indirect")                                                    \
	C(THUNK, "to a thunk, and from it")                                                        \
	C(RETURN, "return behind a call")                                                          \
	C(EXCEPTION, "exception or interrupt")                                                     \
	C(IRET, "return from one, to a boundary")                                                  \
	C(FIXUP, "return from one, to a fixup")                                                    \
	C(ENTRY, "from user space to an entry")                                                    \
	C(EXIT, "iret or sysret to user space")                                                    \
	C(AGAIN, "begun anew by QEMU")                                                             \
	C(SITE, "in places that the boot rewrites")                                                \
	C(FREED, "modules, in the boot: see below")                                                \
	C(NO_TEXT, "from or to no text: see below")                                                \
	C(EXPLAINED, "explained: see below")                                                       \
	C(MISS, "MISSES")

enum verdict_class {
#define CLASS(name, text) CLASS_##name,
	CLASSES(CLASS)
#undef CLASS
		CLASS_COUNT
};

extern const char *const class_text[CLASS_COUNT];

/* One end may be 0: outside the kernel. *why: of a miss, and of what is explained. */
enum verdict_class classify(const struct graph *g, uint32_t from, uint32_t to, const char **why);

#endif
