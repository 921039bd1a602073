// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Breakpoints of others in a process's text, which what is analysed is without: where an int3
 * stands in memory and another byte in the file, the file's byte is meant. (What is written there
 * is compared with memory, so nobody's breakpoint is taken for anything else.)
 */
#include "target/process.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define INT3  0xcc
#define PIECE (16u << 10) /* on the stack, which may be small */

/* Bytes of the text, and where they are in the file. */
static void mask(uint8_t *bytes, size_t len, int fd, uint64_t off)
{
	uint8_t file[PIECE];
	uint8_t *at = memchr(bytes, INT3, len);
	ssize_t n = at ? pread(fd, file, len, (off_t)off) : 0;

	for (; at && at - bytes < n; at = memchr(at + 1, INT3, len - (size_t)(at + 1 - bytes)))
		*at = file[at - bytes];
}

void ki_process_mask_breakpoints(struct ki_process *p, const struct ki_process_file *f)
{
	int fd = open(f->path, O_RDONLY | O_CLOEXEC);

	for (size_t i = 0; fd >= 0 && i < p->text.n; i++) {
		const struct ki_process_text *x = &p->text.v[i];
		const uint64_t from = x->start > f->map ? x->start : f->map;
		const uint64_t to = x->end < f->end ? x->end : f->end;

		for (uint64_t at = from, len; at < to; at += len) {
			len = to - at < PIECE ? to - at : PIECE;
			mask(x->bytes + (at - x->start), len, fd, f->off + (at - f->map));
		}
	}
	if (fd >= 0)
		close(fd);
}
