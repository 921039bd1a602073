/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Much real code, for tests that want it: executable sections of ELF files, and of the kernel
 * that is in the cache of vm/kernel, if it is there.
 */
#ifndef COMMON_IMAGE_H
#define COMMON_IMAGE_H

#include <stddef.h>
#include <stdint.h>

typedef void image_fn(void *ctx, const uint8_t *p, size_t len);

/* fn for each executable section; how many bytes they had, 0 if the file is none. */
size_t image_file(const char *path, image_fn *fn, void *ctx);

/* The text of Debian's kernel 6.1; 0: not in the cache. */
size_t image_kernel(image_fn *fn, void *ctx);

/* Of its first modules, up to max of them. */
size_t image_modules(size_t max, image_fn *fn, void *ctx);

/* The libraries of this machine that have the most different instructions. */
size_t image_libraries(image_fn *fn, void *ctx);

#endif
