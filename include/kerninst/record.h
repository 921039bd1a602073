/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Records: what snippets write (ki_stmt_record), read from the session's ring, and kept in files.
 *
 * A file is a row of chunks, each with its length and a checksum, and says itself what is in it.
 * It names the kernel, the machine and the clock. Of each instrument it has the name and the
 * point, and the name, type and unit of each value. So who reads it needs no other knowledge; and
 * a file whose end is missing, because the writer died, is good up to there. kerninst-record(5)
 * has the format.
 */
#ifndef KERNINST_RECORD_H
#define KERNINST_RECORD_H

#include "kerninst/snippet.h"
#include "kerninst/target.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- rings ---- */

struct ki_ring_options {
	size_t size;	/* of this structure */
	uint32_t bytes; /* of each CPU; 0: 1 MiB. Rounded up to a power of 2 */
	uint32_t wake;	/* bytes that wake ki_ring_wait; 0: half of that */
	bool newest;	/* when it is full the oldest records go, not the new one */
};

struct ki_ring_map;

/* The session's ring, mapped. One for each target. */
int ki_ring_map_new(struct ki_target *t, const struct ki_ring_options *o, struct ki_ring_map **out,
		    struct ki_err *err);
void ki_ring_map_free(struct ki_ring_map *r); /* NULL is allowed; the ring itself stays */

uint32_t ki_ring_number(const struct ki_ring_map *r); /* for ki_stmt_record */

/*
 * 1: of some CPU `wake` bytes are there to be read, 0: the time is over (milliseconds; -1: never),
 * or -errno (-EINTR).
 */
int ki_ring_wait(struct ki_ring_map *r, int timeout);

/* A record; values live until the function returns. Not 0: stop; that is what ki_ring_read returns.
 */
typedef int ki_record_each(void *arg, const struct ki_record *rec, const uint64_t *values,
			   unsigned int cpu);

/*
 * All records that are there, in the order of their times over all CPUs; they are gone from the
 * ring then. Of a ring that keeps the newest they are not, and all of them come again the next
 * time; if others write meanwhile, those that go are left out. -EIO: what is there is no record. A
 * record that was being written may come the next time only, though it is older than some that came
 * now.
 */
int ki_ring_read(struct ki_ring_map *r, ki_record_each *f, void *arg);

/*
 * Records lost since the beginning (of a ring that keeps the newest, those that have gone too), and
 * written. Exact: what has been read, or is there, and what is lost is all that was ever asked for.
 */
uint64_t ki_ring_lost(const struct ki_ring_map *r);
uint64_t ki_ring_records(const struct ki_ring_map *r);

/* ---- stacks ---- */

struct ki_stacks_options {
	size_t size;	 /* of this structure */
	uint32_t frames; /* of a stack, at most; 0: 64 */
	uint32_t rows;	 /* stacks there is room for; 0: 16384. Rounded up to a power of 2 */
};

struct ki_stacks_map;

/* A stack, the innermost frame first: struct ki_stack_row. */
struct ki_stack {
	uint64_t number;
	uint32_t tgid; /* the process of a user's stack; 0: a kernel's */
	uint32_t n;
	const uint64_t *addrs; /* n */
};

/* The session's table of stacks, mapped. One for each target. */
int ki_stacks_map_new(struct ki_target *t, const struct ki_stacks_options *o,
		      struct ki_stacks_map **out, struct ki_err *err);
void ki_stacks_map_free(struct ki_stacks_map *m); /* NULL is allowed; the table itself stays */

uint32_t ki_stacks_number(const struct ki_stacks_map *m); /* for ki_expr_stack */

/*
 * The session's strings: helper TEXT's (ki_expr_text). most: bytes of one, its 0 included. A string
 * by its number lives as long as the mapping; "": there is none. lost: for which there was no
 * place, which are empty.
 */
struct ki_texts_map;
int ki_texts_map_new(struct ki_target *t, uint32_t most, uint32_t scratch,
		     struct ki_texts_map **out, struct ki_err *err);
void ki_texts_map_free(struct ki_texts_map *m); /* NULL is allowed */
uint32_t ki_texts_number(const struct ki_texts_map *m);
const char *ki_texts_get(const struct ki_texts_map *m, uint64_t number);
size_t ki_texts_length(const struct ki_texts_map *m, uint64_t number); /* bytes */
uint64_t ki_texts_lost(const struct ki_texts_map *m);
uint64_t ki_texts_refused(const struct ki_texts_map *m); /* numbers that were all taken */

/* Stacks that are there, and how often there was no place for one. Exact. */
uint64_t ki_stacks_count(const struct ki_stacks_map *m);
uint64_t ki_stacks_lost(const struct ki_stacks_map *m);

/* A stack by its number; addrs live as long as the mapping. -ENOENT: there is none; -ERANGE: there
   is no place of that number. */
int ki_stacks_get(const struct ki_stacks_map *m, uint64_t number, struct ki_stack *out);

/*
 * A stack that two CPUs meet at once may have two numbers. *same: for each number the lowest one of
 * the stacks that are the same (0: there is none); *n of them. Free it with ki_free(). -ENOMEM.
 */
int ki_stacks_same(const struct ki_stacks_map *m, uint32_t **same, size_t *n);

/* ---- files ---- */

enum ki_field_kind {
	KI_SHOW_DECIMAL,
	KI_SHOW_HEX,
	KI_SHOW_CODE,	 /* an address of code: shown as FUNCTION+OFFSET */
	KI_SHOW_TICKS,	 /* of the time stamp counter: shown as time */
	KI_SHOW_SECONDS, /* nanoseconds: shown as time */
	KI_SHOW_TEXT,	 /* 8 bytes of a text; a field without name goes on with it */
	KI_SHOW_STACK,	 /* the number of a stack: shown as its frames */
	KI_SHOWS
};

struct ki_record_field {
	const char *name;
	const char *unit; /* "" if it has none */
	uint8_t type;	  /* enum ki_type */
	uint8_t show;	  /* enum ki_field_kind */
};

/* What writes records of one id, each with as many values as there are fields. */
struct ki_instrument {
	uint32_t id;
	const char *name;  /* of what it is about, as people wrote it: "vfs_read:entry" */
	const char *point; /* the same with its address: names are not unique */
	uint64_t addr;
	double on, off; /* seconds after the start at which it was to begin and end; off 0: never */
	const struct ki_record_field *fields;
	unsigned int nfields; /* at most KI_RECORD_WORDS */
};

/* Where and when a recording was made. Text that is not known is empty. */
struct ki_record_origin {
	char kernel[72];   /* its release */
	char build[72];	   /* its build id, in hex */
	char boot[40];	   /* the id of this boot */
	char host[72];	   /* the machine's name */
	char command[256]; /* what was asked for */
	uint32_t cpus, tsc_khz;
	uint64_t tsc; /* time stamp counter at the start, */
	int64_t time; /* and nanoseconds since 1970 then */
};

/* Of this machine, with tsc and time of now. cpus and tsc_khz are the target's, if it is live. */
void ki_record_origin_here(const struct ki_target *t, struct ki_record_origin *out);

/* A command line as one text, for .command: NULL in argv is --. Without the end, if there is no
 * room. */
void ki_record_command_text(int argc, char *const *argv, char *to, size_t size);

/* A function that points of the file's instruments are in, as it was. */
struct ki_record_function {
	const char *name;
	const char *module; /* "": the kernel's own */
	uint64_t addr;
	uint64_t cfg; /* ki_cfg_hash; 0: not known */
};

/* A module that such functions are of. */
struct ki_record_module {
	const char *name;
	const char *build; /* its build id, in hex; "": it has none */
};

/*
 * Of each symbol the function as it is now, into out[n]: its strings are the symbol's. Of one that
 * cannot be analysed cfg is 0. -ENOMEM.
 */
int ki_record_functions_find(struct ki_target *t, const struct ki_symbol *const *syms, size_t n,
			     struct ki_record_function *out, struct ki_err *err);

/* The build id of a loaded module of this machine, in hex; "": not known. */
void ki_record_module_build(const char *module, char *to, size_t size);

/* What happened to an instrument. */
enum ki_record_event_kind {
	KI_EVENT_INSTALLING, /* at tsc that began, */
	KI_EVENT_ON,	     /* and had been done */
	KI_EVENT_REMOVING,
	KI_EVENT_OFF,
	KI_EVENT_HITS, /* value: how often it was reached, written or lost, or left out; not there
			  if it is not known how many of these were of its time */
	KI_EVENT_SAMPLING, /* from tsc on one of `value` hits is recorded; 0: none any more */
	KI_EVENTS
};

struct ki_record_event {
	uint32_t id; /* of the instrument */
	uint32_t kind;
	uint64_t tsc, value;
};

struct ki_record_file;

/* What a file says of itself. Strings are copied. */
struct ki_recorded {
	const struct ki_record_origin *origin;
	struct ki_target *t; /* its symbols stand for the addresses of KI_SHOW_CODE; it lives as
				long as the file is open. NULL: none */
	const struct ki_instrument *instruments;
	size_t n;
};

/*
 * Write a file: what it says of itself comes first.
 *
 * After a failure (the disk is full) the file ends after the last chunk that is whole, and all
 * further calls fail with it.
 */
int ki_record_new(const char *path, const struct ki_recorded *what, struct ki_record_file **out,
		  struct ki_err *err);
/* What is known of the code that is recorded; after ki_record_new, before the first record.
   Files without are as good: then it is not known if code is as it was. */
int ki_record_functions(struct ki_record_file *f, const struct ki_record_function *v, size_t n);
int ki_record_modules(struct ki_record_file *f, const struct ki_record_module *v, size_t n);
/* From here on a flush returns when the disk has it. */
void ki_record_to_disk(struct ki_record_file *f);
/*
 * Fields of KI_SHOW_STACK are numbers of this table, which lives as long as the file is open: the
 * stacks themselves go to the file when they are first met. Before the first record, once: -EEXIST;
 * -ENOMEM. What is known of processes belongs to the table: files that have the same one share it.
 */
int ki_record_stacks(struct ki_record_file *f, const struct ki_stacks_map *map);
/* What these addresses of a process are, which lives: the file has it then, for
   ki_recording_frame. 0, or -errno. */
int ki_record_places(struct ki_record_file *f, uint32_t tgid, const uint64_t *addrs, size_t n);

/* Look at the processes whose stacks are new: what their addresses are can be found out only as
   long as they are there. To be called often. */
void ki_record_look(struct ki_record_file *f);
/* -EINVAL: no such instrument, or it has another number of values. */
int ki_record_write(struct ki_record_file *f, const struct ki_record *rec, const uint64_t *values,
		    unsigned int cpu);
int ki_record_event(struct ki_record_file *f, const struct ki_record_event *e);
/* To the file, whatever is buffered; and how many were lost until now. */
int ki_record_flush(struct ki_record_file *f, uint64_t lost, struct ki_err *err);
/* The same, and that this is the end, at tsc. Closed in any case; f is gone. NULL is allowed. */
int ki_record_finish(struct ki_record_file *f, uint64_t lost, uint64_t tsc, struct ki_err *err);
/* Close without a word about the end: a reader takes it for cut. NULL is allowed. */
void ki_record_free(struct ki_record_file *f);

/*
 * Read one: wholly, or up to where it was cut off or spoilt, which is not an error, unless
 * nothing can be read at all.
 */
struct ki_recording;

struct ki_recording_state {
	bool cut;      /* there was more, or there would have been: the writer has not finished */
	uint64_t good; /* bytes that could be read */
	uint64_t records; /* in them */
	uint64_t lost;	  /* as far as it is known */
	uint64_t end;	  /* time stamp counter: of the end, or of the last that is known */
};

int ki_recording_new(const char *path, struct ki_recording **out, struct ki_err *err);
void ki_recording_free(struct ki_recording *r); /* NULL is allowed */

const struct ki_record_origin *ki_recording_origin(const struct ki_recording *r);
const struct ki_recording_state *ki_recording_state(const struct ki_recording *r);
const struct ki_instrument *ki_recording_instruments(const struct ki_recording *r, size_t *n);
const struct ki_instrument *ki_recording_instrument(const struct ki_recording *r, uint32_t id);
const struct ki_record_event *ki_recording_events(const struct ki_recording *r, size_t *n);

/* In the order of the file; those of it that are not known are not there. */
const struct ki_record_function *ki_recording_functions(const struct ki_recording *r, size_t *n);
const struct ki_record_module *ki_recording_modules(const struct ki_recording *r, size_t *n);

/* The function at an address, as the kernel had it then; NULL: not known. */
const char *ki_recording_symbol(const struct ki_recording *r, uint64_t addr, uint64_t *offset);

/* A stack by its number; addrs live as long as the recording. -ENOENT: the file has none. */
int ki_recording_stack(const struct ki_recording *r, uint64_t number, struct ki_stack *out);

/* What an address of a process was. Strings that are not known are empty. */
struct ki_user_frame {
	const char *symbol; /* the function, and where in it */
	uint64_t offset;
	const char *path, *build; /* the file, its build id in hex, and where in it */
	uint64_t file_offset;
};

/* Of frame i of a stack; its offset is that of its address. -ENOENT: not known. Of a kernel's stack
   path and build are empty. */
int ki_recording_frame(const struct ki_recording *r, const struct ki_stack *s, uint32_t i,
		       struct ki_user_frame *out);

/* All records in the order of their times, whatever CPU they are of. Each has an instrument and its
   number of values. */
int ki_recording_each(struct ki_recording *r, ki_record_each *each, void *arg);

#ifdef __cplusplus
}
#endif

#endif
