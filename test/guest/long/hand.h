/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Chunks written by hand: asked of the driver, without what the library makes of snippets. What
 * fails and should not, ends the program with status 2.
 */
#ifndef LONG_HAND_H
#define LONG_HAND_H

#include "kerninst/splice.h"
#include "samples.h"

/* The first window of a function that takes a jump. */
struct hand_window {
	struct ki_window window;
	struct ki_copy copies[KI_WINDOW_INSNS];
};

/* What targets of fixups begin from. */
struct hand_numbers {
	uint32_t counter, global, word;
	uint64_t callee;
};

__attribute__((noreturn)) void hand_die(const char *what, const struct ki_err *err);
void hand_window(struct ki_target *t, const char *function, struct hand_window *out);
/* KI_R_OK and its id, or the reason. */
uint32_t hand_install(struct ki_target *t, const struct hand_window *w, const struct long_sample *s,
		      const struct hand_numbers *n, uint32_t *id);
/* A sample's code, to be changed. */
#define HAND_CODE 4096
struct hand_code {
	uint8_t code[HAND_CODE];
	struct ki_fixup fix[64];
	uint32_t len, nfix;
};
void hand_code(const struct long_sample *s, const struct hand_numbers *n, struct hand_code *out);
/* A dry run of n chunks, at most 2: what the driver says of the last one. */
uint32_t hand_ask(struct ki_target *t, const struct hand_window *w,
		  const struct hand_code *const *v, uint32_t n);
void hand_take_out(struct ki_target *t, uint32_t id);
struct ki_info hand_info(struct ki_target *t); /* as it is now */

#endif
