/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A request while it is worked on: what the caller has said, in memory of the kernel.
 */
#ifndef KI_REQUEST_H
#define KI_REQUEST_H

#include "ki.h"

struct file;
struct ki_long_taken;
struct ki_process;

struct ki_request {
	struct ki_session *session;
	const struct file *asker; /* the session's descriptor */
	union {
		u32 size;
		struct ki_info info;
		struct ki_read read;
		struct ki_reserved reserved;
		struct ki_counters counters;
		struct ki_globals globals;
		struct ki_global global;
		struct ki_words words;
		struct ki_inside inside;
		struct ki_ring ring;
		struct ki_table_request table;
		struct ki_stacks stacks;
		struct ki_texts texts;
		struct ki_event_req event;
		struct ki_splice splice;
		struct ki_unsplice unsplice;
		struct ki_patches patches;
		struct ki_session_row row;
		struct ki_session_window window;
		struct ki_evict evict;
		struct ki_held held;
		struct ki_process_open process;
		struct ki_process_memory process_memory;
		struct ki_process_map process_map;
		struct ki_process_edits process_edits;
		struct ki_process_release process_release;
		struct ki_process_go process_go;
	} arg;
	/* Its arrays, of ki_array; NULL: not taken, or none. */
	struct ki_window *windows;
	struct ki_copy *copies;
	struct ki_chunk *chunks;
	struct ki_long_taken *longs; /* one for each chunk; long.h */
	u32 *ids;
	u64 *init;
	struct ki_process_edit *edits;
	struct ki_process *process; /* begun, and not the session's yet; NULL */
	struct file *file;	    /* the same */
	void *out;		    /* what is to be answered beside arg */
	bool checked;		    /* windows and chunks say what is to be said of them */
};

/* request.c: the ioctls */
long ki_request_make(struct file *file, unsigned int cmd, unsigned long user);

/*
 * Each in three steps. take: all from user memory. The one that bears the request's name: all
 * else, with ki_lock held. answer: to user memory, and whatever else may have to wait for a
 * process. It does so also when there was an error, which is returned if it can be said.
 */
int ki_splice_take(struct ki_request *q);
int ki_splice(struct ki_request *q) __must_hold(&ki_lock);
int ki_splice_answer(struct ki_request *q, int err);
int ki_unsplice_take(struct ki_request *q);
int ki_unsplice(struct ki_request *q) __must_hold(&ki_lock);
int ki_words_inside(struct ki_request *q) __must_hold(&ki_lock); /* fills out */

#endif
