/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A snippet's body, run in all ways in which registers can be free.
 */
#ifndef TEST_UNIT_SNIPPET_WAYS_H
#define TEST_UNIT_SNIPPET_WAYS_H

#include "snippet_fixture.h"

/* The same must come out each time. */
static inline void run(struct ki_node *body)
{
	static const ki_regset dead[] = {0, KI_REGSET_ALL, KI_REGSET_REG(KI_RAX) | KI_REGSET_FLAGS,
					 KI_REGSET_REG(KI_R10) | KI_REGSET_REG(KI_R15)};
	struct ki_err err = {0};
	struct ki_long_code code;
	const char *why;

	ki_snippet_body(s, body);
	for (size_t i = 0; i < sizeof(dead) / sizeof(*dead); i++) {
		c.site.dead = dead[i];
		if (ki_snippet_compile(s, &c.site, &code, &err) || snip_interpret(&c, s))
			fail_msg("%s", err.msg);
		why = vet_long(&code, SNIP_COUNTERS, SNIP_GLOBALS, SNIP_THREAD);
		if (!why)
			why = snip_run(&c, &code);
		if (why)
			fail_msg("%s", why);
		ki_long_code_free(&code);
	}
}

/* What it leaves in `out`. */
static inline void leaves(struct ki_node *body, uint64_t want)
{
	run(body);
	if (c.got.counters[7] != want) {
		char *text = NULL;

		ki_snippet_format(s, &text, NULL);
		print_error("%s", text);
		free(text);
	}
	assert_int_equal(c.got.counters[7], want);
	begin();
}

#endif
