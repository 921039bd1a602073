/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A part of kerninst.h: the sizes of what passes between driver and user space.
 */
#ifndef _UAPI_KERNINST_SIZES_H
#define _UAPI_KERNINST_SIZES_H

/* Both sides build with the same layout, or not at all. */
#ifdef __cplusplus
#define KI_ASSERT_SIZE(type, bytes) static_assert(sizeof(struct type) == (bytes), #type)
#else
#define KI_ASSERT_SIZE(type, bytes) _Static_assert(sizeof(struct type) == (bytes), #type)
#endif
KI_ASSERT_SIZE(ki_info, 272);
KI_ASSERT_SIZE(ki_read, 32);
KI_ASSERT_SIZE(ki_reserved_row, 24);
KI_ASSERT_SIZE(ki_reserved, 40);
KI_ASSERT_SIZE(ki_counters, 16);
KI_ASSERT_SIZE(ki_globals, 16);
KI_ASSERT_SIZE(ki_global, 16);
KI_ASSERT_SIZE(ki_words, 16);
KI_ASSERT_SIZE(ki_inside_row, 16);
KI_ASSERT_SIZE(ki_inside, 32);
KI_ASSERT_SIZE(ki_ring, 40);
KI_ASSERT_SIZE(ki_ring_head, 32);
KI_ASSERT_SIZE(ki_event_req, 32);
KI_ASSERT_SIZE(ki_record, 16);
KI_ASSERT_SIZE(ki_table_request, 56);
KI_ASSERT_SIZE(ki_table_head, 16);
KI_ASSERT_SIZE(ki_stacks, 40);
KI_ASSERT_SIZE(ki_stacks_head, 16);
KI_ASSERT_SIZE(ki_stack_row, 16);
KI_ASSERT_SIZE(ki_fixup, 16);
KI_ASSERT_SIZE(ki_long, 24);
KI_ASSERT_SIZE(ki_copy, 72);
KI_ASSERT_SIZE(ki_window, 96);
KI_ASSERT_SIZE(ki_chunk, 128);
KI_ASSERT_SIZE(ki_splice, 48);
KI_ASSERT_SIZE(ki_unsplice, 24);
KI_ASSERT_SIZE(ki_session_row, 112);
KI_ASSERT_SIZE(ki_session_window, 96);
KI_ASSERT_SIZE(ki_evict, 24);
KI_ASSERT_SIZE(ki_held, 72);
KI_ASSERT_SIZE(ki_process_open, 16);
KI_ASSERT_SIZE(ki_process_memory, 16);
KI_ASSERT_SIZE(ki_process_map, 40);
KI_ASSERT_SIZE(ki_process_edit, 32);
KI_ASSERT_SIZE(ki_process_edits, 24);

#endif
