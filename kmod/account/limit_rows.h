/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a session, and a user, may take of what there is: a row for each kind.
 *
 * KI_LIMIT(tag, name, what): of all sessions of a user: parameter user_NAME.
 * KI_LIMIT_BOTH: of one session, too: session_NAME. Reasons: KI_R_LIMIT_tag.
 */
#ifndef KI_LIMIT_BOTH
#define KI_LIMIT_BOTH KI_LIMIT
#endif
/* clang-format off */
KI_LIMIT(SESSIONS, sessions, "open sessions")
KI_LIMIT_BOTH(WINDOWS, windows, "installed windows")
KI_LIMIT_BOTH(CHUNKS, chunks, "installed chunks")
KI_LIMIT_BOTH(HEAP, heap, "bytes of the text heap")
KI_LIMIT_BOTH(COUNTERS, counters, "counters")
KI_LIMIT_BOTH(GLOBALS, globals, "global variables")
KI_LIMIT_BOTH(WORDS, words, "threads' words")
KI_LIMIT(RINGS, rings, "rings")
KI_LIMIT_BOTH(TABLES, tables, "tables")
KI_LIMIT(STACKS, stacks, "tables of stacks")
KI_LIMIT_BOTH(EVENTS, events, "events of perf")
KI_LIMIT_BOTH(PAGES, pages, "pages (4 KiB) of rings, tables and stacks")
/* clang-format on */
#undef KI_LIMIT
#undef KI_LIMIT_BOTH
