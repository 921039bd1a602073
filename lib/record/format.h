/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A recording as it is in a file: kerninst-record(5). All numbers are little-endian, all chunks and
 * what is in them begin at multiples of 8 bytes.
 */
#ifndef KI_RECORD_FORMAT_H
#define KI_RECORD_FORMAT_H

#include <stdint.h>

#define CHUNK_MAGIC 0x6374696bu /* "kitc" */
#define CHUNK_MOST  (16u << 20) /* bytes of payload */
#define FORMAT	    1

enum chunk_type {
	CHUNK_HEADER = 1,
	CHUNK_INSTRUMENT,
	CHUNK_SYMBOLS,
	CHUNK_RECORDS,
	CHUNK_EVENT,
	CHUNK_LOST,
	CHUNK_END,
	CHUNK_STACKS,
	CHUNK_USERS,
	CHUNK_FUNCTIONS,
	CHUNK_MODULES,
};

struct chunk {
	uint32_t magic, type;
	uint32_t length; /* of the payload after it: a multiple of 8 */
	uint32_t number; /* 0, 1, ... in the file */
	uint64_t check;	 /* ki_chunk_check */
};

/* Strings after it: kernel, build, boot, host, command. */
struct file_header {
	uint32_t format, cpus, tsc_khz, zero;
	uint64_t tsc;
	int64_t time;
};

/* After it struct file_field for each field; then strings: name, point, each field's name, unit.
 */
struct file_instrument {
	uint32_t id, nfields;
	uint64_t addr;
	double on, off;
};

struct file_field {
	uint8_t type, show;
	uint8_t zero[6];
};

/* Its name after it, with 1 to 8 bytes of 0. */
struct file_symbol {
	uint64_t addr, size;
};

/* Its values after it. */
struct file_record {
	uint32_t id;
	uint16_t words, cpu;
	uint64_t tsc;
};

struct file_event {
	uint32_t id, kind;
	uint64_t tsc, value;
};

struct file_lost {
	uint64_t lost;
};

struct file_end {
	uint64_t lost, records, tsc;
};

/* Its frames' addresses after it. */
struct file_stack {
	uint64_t number;
	uint32_t tgid, frames;
};

/* Where an address of a process lies: in which file; strings after it: function, path, build id.
 */
struct file_user {
	uint32_t tgid, zero;
	uint64_t addr, file_offset, offset;
};

/* Strings after it: name, module. A module's row is two strings: name, build id. */
struct file_function {
	uint64_t addr, cfg;
};

/* XXH3 of the payload, seeded with that of magic, type, length and number. */
uint64_t ki_chunk_check(const struct chunk *c, const void *payload);

#endif
