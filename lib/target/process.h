/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Inside a process as a target, for who changes it (lib/process). */
#ifndef KI_TARGET_PROCESS_H
#define KI_TARGET_PROCESS_H

#include "target/priv.h"
#include "target/process_maps.h"

typedef ki_vec(uint32_t) ki_vec_u32;

/* Text of a module: one of the target's ranges. */
struct ki_process_text {
	uint64_t start, end;
	uint8_t *bytes; /* as they were when the target was opened */
};

/*
 * Words of threads. A row is a thread's FS base, 0 while it is nobody's, and its words; a thread
 * takes the first free row of KI_PROCESS_TRIES from the one that its base is hashed to, and keeps
 * it. The rows are the process's own memory: what it forks begins with empty ones.
 */
#define KI_PROCESS_HASH	 12
#define KI_PROCESS_TRIES 64u
#define KI_PROCESS_ROWS	 ((1u << KI_PROCESS_HASH) + KI_PROCESS_TRIES)
#define KI_PROCESS_WORDS 127u

/* log2 of the bytes of a row; never less than a cache line. */
static inline unsigned int ki_process_row_shift(uint32_t words)
{
	unsigned int shift = 6;

	while ((8u << (shift - 3)) < 8 * (words + 1))
		shift++;
	return shift;
}

struct ki_process_area {
	uint64_t addr, len;
};

typedef ki_vec(struct ki_change) ki_process_mapped;

struct ki_process {
	pid_t pid;
	/*
	 * /proc/PID/mem. It belongs to the address space and not to the number: when the process
	 * has gone or has become another program, it reads and writes nothing.
	 */
	int mem;
	int device; /* the driver's session that changes this process; -1: none yet */
	bool apart; /* it says that threads are known by the word at their FS base */
	ki_vec(struct ki_process_text) text; /* in order of address */
	ki_vec(struct ki_process_area) rseq; /* tables of restartable sequences */
	struct ki_process_area vdso;	     /* len 0: it has none */
	ki_vec(struct ki_process_area) go;   /* text of Go's */
	/* Its runtime.goexit, and where functions go on that have recovered from a panic. */
	ki_vec(uint64_t) go_exits;
	ki_process_mapped mapped; /* files of code, when it was looked the last time */
	bool gone;		  /* its end has been told */
	bool begun;		  /* it has executed something of its own */
	uint32_t counters, words; /* that have been given out */
	uint64_t rows; /* where the threads' are in the process; 0: nothing is installed */
};

/* process_slots.c: a run of counters, or of words: its first number. */
int ki_process_counters(struct ki_target *t, uint32_t count, uint32_t *first, struct ki_err *err);
int ki_process_words(struct ki_target *t, uint32_t count, uint32_t *first, struct ki_err *err);
/* As ki_words_inside. Of a process that has ended nobody is. */
int ki_process_inside(struct ki_target *t, uint32_t first, uint32_t count,
		      struct ki_inside_row *rows, uint64_t *now, struct ki_err *err);

/* process_rseq.c: note a file's table, moved by its bias; what the process's say. */
struct ki_elf;
int ki_process_note_rseq(struct ki_process *p, const struct ki_elf *e, uint64_t bias);
int ki_process_reserved(struct ki_target *t, struct ki_rows *rows, struct ki_err *err);

/* process_changes.c: files whose code is mapped. -ENOMEM. */
int ki_process_list_files(const struct ki_mappings *all, ki_process_mapped *out);

/* What a file names goes where. */
struct ki_process_names {
	struct ki_process *process;
	struct ki_symbol_list *list;
	const struct ki_target *image;
	uint64_t bias;
	uint32_t module;
	ki_vec(uint64_t) others; /* where names stand that are not the image's; in order */
};

/* process_names.c: those of debugging information and of PLTs; is the address one of either? */
int ki_process_add_others(struct ki_elf *e, struct ki_process_names *to);
bool ki_process_is_named(const struct ki_process_names *to, uint64_t addr);

/* process_go.c: what a file of Go's says; is the address in text of such a one? */
int ki_process_note_go(struct ki_elf *e, const struct ki_process_names *to);
bool ki_process_is_go(const struct ki_process *p, uint64_t addr);

/* process_breakpoints.c: in the text that has been read of this file. */
struct ki_process_file;
void ki_process_mask_breakpoints(struct ki_process *p, const struct ki_process_file *f);

/* All of len bytes: 0, -ESRCH: the address space has gone; -EFAULT, or another error. */
int ki_process_peek(int mem, uint64_t addr, void *buf, size_t len);

/* A file of the process: its code's ranges and its symbols, moved by its bias. */
struct ki_process_file {
	const char *path;   /* where it can be opened */
	const char *module; /* what it is called */
	uint64_t map, off;  /* its executable mapping, and what of the file stands there */
	uint64_t end;	    /* of the mapping */
};

/* It, and room for its names. False: the mapping is none of code, or of no file. */
struct ki_process_found {
	struct ki_process_file f;
	char module[256], from[4200];
};
bool ki_process_file_of(pid_t pid, const struct ki_mappings *all, const struct ki_mapping *m,
			struct ki_process_found *out);

/* What the file's own addresses differ by: 0; -EINVAL, -ENOENT: none of its code is there. */
int ki_process_file_bias(struct ki_elf *e, const struct ki_process_file *f, uint64_t *bias);

/* All of len bytes of the process (the vdso), in a file in memory: its descriptor, or -1. */
int ki_process_copy(const struct ki_process *p, uint64_t addr, size_t len);

/*
 * Add a file's ranges and symbols. Functions that have no symbol, but a row in .eh_frame_hdr, are
 * called sub_ADDRESS (of the file). modules: for each range the offset of its module's name.
 */
bool ki_process_has_symbol(const struct ki_target *image, uint64_t addr); /* of the file */
int ki_process_add_file(struct ki_target *t, struct ki_symbol_list *l, ki_vec_u32 *modules,
			const struct ki_process_file *f, struct ki_err *err);

#endif
