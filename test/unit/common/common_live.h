/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A live kernel without a kernel: a driver and files of our own.
 */
#ifndef COMMON_LIVE_H
#define COMMON_LIVE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "target/kinds.h"

#define TEXT 0xffffffff81000000ull
#define MOD  0xffffffffc0201000ull

/* A file of the given content below /tmp, to be dropped. */
char *file_of(const char *content, size_t len);
void drop(char *path);

/* The driver that the tests put in place of the kernel's. */
struct mock_driver {
	int info_error, read_error;
	uint32_t abi;
	uint64_t text_end, module_end;
	uint64_t changed; /* the byte there is another one */
	uint32_t rows, rows_grow;
	unsigned int calls, reserved_calls;
};

extern struct mock_driver driver;
void reset_driver(void);
int driver_ioctl(int fd, unsigned long request, void *arg);

/* Text symbols of the kernel and of modules m1, which is there, and m2, which is not. */
extern const char live_symbols[];
int open_live(const char *symbols_text, struct ki_target **t, struct ki_err *err);

#endif
