/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Records: what snippets write (ki_stmt_record), read from the session's ring, and kept in files.
 *
 * A file is a row of chunks, each with its length and a checksum, and says itself what is in it:
 * which kernel and machine, the clock, and of each instrument its name, its point, and the name,
 * type and unit of each value. So who reads it needs no other knowledge; and a file whose end is
 * missing, because the writer died, is good up to there. kerninst-record(5) has the format.
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
	uint32_t bytes; /* of each CPU; 0: 1 MiB. Rounded up to a power of 2 */
	uint32_t wake;	/* bytes that wake ki_ring_wait; 0: half of that */
	bool newest;	/* when it is full the oldest records go, not the new one */
};

struct ki_ring_map;

/* The session's ring, mapped. One for each target. */
int ki_ring_open(struct ki_target *t, const struct ki_ring_options *o, struct ki_ring_map **out,
		 struct ki_err *err);
void ki_ring_close(struct ki_ring_map *r); /* NULL is allowed; the ring itself stays */

uint32_t ki_ring_number(const struct ki_ring_map *r); /* for ki_stmt_record */

/* 1: there is something to be read, 0: the time is over (milliseconds; -1: none), or -errno. */
int ki_ring_wait(struct ki_ring_map *r, int timeout);

/* A record; values live until the function returns. Not 0: stop; that is what ki_ring_read returns.
 */
typedef int ki_record_each(void *arg, const struct ki_record *rec, const uint64_t *values,
			   unsigned int cpu);

/*
 * All records that are there, in the order of their times over all CPUs; they are gone from the
 * ring then (of a ring that keeps the newest: not, and it is for a moment at which nobody writes).
 */
int ki_ring_read(struct ki_ring_map *r, ki_record_each *f, void *arg);

/* Records lost since the beginning, exactly; and written. */
uint64_t ki_ring_lost(const struct ki_ring_map *r);
uint64_t ki_ring_records(const struct ki_ring_map *r);

/* ---- files ---- */

enum ki_field_kind {
	KI_SHOW_DECIMAL,
	KI_SHOW_HEX,
	KI_SHOW_CODE,	 /* an address of code: shown as FUNCTION+OFFSET */
	KI_SHOW_TICKS,	 /* of the time stamp counter: shown as time */
	KI_SHOW_SECONDS, /* nanoseconds: shown as time */
	KI_SHOW_TEXT,	 /* 8 bytes of a name */
	KI_SHOWS
};

struct ki_record_field {
	const char *name;
	const char *unit; /* "" if it has none */
	uint8_t type;	  /* enum ki_type */
	uint8_t show;	  /* enum ki_field_kind */
};

/* What writes records of one id. */
struct ki_instrument {
	uint32_t id;
	const char *name;  /* of what it is about, as people wrote it: "vfs_read:entry" */
	const char *point; /* the same with its address: names are not unique */
	uint64_t addr;
	double on, off; /* seconds after the start at which it was to begin and end; off 0: never */
	const struct ki_record_field *fields;
	unsigned int nfields;
};

struct ki_record_file;

/* Write a file: what it says of itself comes first. Strings are copied. */
int ki_record_create(const char *path, struct ki_target *t, const struct ki_instrument *v, size_t n,
		     struct ki_record_file **out, struct ki_err *err);
int ki_record_write(struct ki_record_file *f, const struct ki_record *rec, const uint64_t *values,
		    unsigned int cpu);
/* To the disk, whatever is buffered; and with how many were lost until now. */
int ki_record_flush(struct ki_record_file *f, uint64_t lost, struct ki_err *err);

/* Read one: wholly, or, if *cut says so, up to where it was cut off or spoilt. */
int ki_record_open(const char *path, struct ki_record_file **out, struct ki_err *err);
const struct ki_instrument *ki_record_instruments(const struct ki_record_file *f, size_t *n);
const char *ki_record_kernel(const struct ki_record_file *f); /* release and build id */
uint32_t ki_record_tsc_khz(const struct ki_record_file *f);
uint64_t ki_record_start(const struct ki_record_file *f);     /* time stamp counter; */
int64_t ki_record_start_time(const struct ki_record_file *f); /* nanoseconds since 1970 then */
int ki_record_each_in(struct ki_record_file *f, ki_record_each *each, void *arg, uint64_t *lost,
		      bool *cut, struct ki_err *err);
void ki_record_close(struct ki_record_file *f); /* NULL is allowed */

#ifdef __cplusplus
}
#endif

#endif
