// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * What a block does for KCOV. Where the task is not traced, which is nearly always, that is two
 * instructions; so nothing is kept before it is needed, but for flags that are live.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kerninst/kcov.h"

#define HELPER_AT 1 /* in call_helper */
#define HERE_AT	  5 /* in is_traced */

static const uint8_t save_flags[] = {0x50, 0x9f, 0x0f, 0x90, 0xc0};
static const uint8_t is_traced[] = {0x65, 0x48, 0x83, 0x3c, 0x25, 0, 0, 0, 0, 0};
static const uint8_t skip[] = {0x74, 0};
static const uint8_t save_rax[] = {0x50};
static const uint8_t load_addr[] = {0xb8, 0, 0, 0, 0};
static const uint8_t call_helper[] = {0xe8, 0, 0, 0, 0};
static const uint8_t restore_rax[] = {0x58};
static const uint8_t restore_flags[] = {0x04, 0x7f, 0x9e, 0x58};

#define BYTES_MAX 40
#define FIXES	  2

static void append(struct ki_long_code *c, const uint8_t *bytes, uint32_t n, uint32_t insns)
{
	memcpy(c->code + c->len, bytes, n);
	c->len += n;
	c->ninsns += insns;
}

static void fix(struct ki_long_code *c, uint8_t kind, uint32_t at, uint64_t target)
{
	c->fix[c->nfix++] =
		(struct ki_fixup){.kind = kind, .off = (uint32_t)(c->len + at), .target = target};
}

static void record(struct ki_long_code *c, uint64_t addr, bool keep_rax)
{
	const uint32_t low = (uint32_t)addr;

	if (keep_rax)
		append(c, save_rax, sizeof(save_rax), 1);
	append(c, load_addr, sizeof(load_addr), 1);
	memcpy(c->code + c->len - sizeof(low), &low, sizeof(low));
	fix(c, KI_FIX_HELPER, HELPER_AT, KI_HELPER_KCOV);
	append(c, call_helper, sizeof(call_helper), 1);
	if (keep_rax)
		append(c, restore_rax, sizeof(restore_rax), 1);
}

static void make(struct ki_long_code *c, uint64_t addr, bool keep_rax, bool keep_flags)
{
	uint32_t from;

	if (keep_flags)
		append(c, save_flags, sizeof(save_flags), 3);
	fix(c, KI_FIX_SELF, HERE_AT, KI_SELF_KCOV);
	append(c, is_traced, sizeof(is_traced), 1);
	append(c, skip, sizeof(skip), 1);
	from = c->len;
	record(c, addr, keep_rax || keep_flags);
	c->code[from - 1] = (uint8_t)(c->len - from);
	if (keep_flags)
		append(c, restore_flags, sizeof(restore_flags), 3);
}

int ki_snippet_kcov(uint64_t addr, const struct ki_site_regs *site, struct ki_long_code *out,
		    struct ki_err *err)
{
	const ki_regset rax = KI_REGSET_REG(KI_RAX);

	*out = (struct ki_long_code){0};
	if ((uint64_t)(int64_t)(int32_t)addr != addr)
		return ki_err_set(err, -ERANGE, addr, "KCOV: no address of the kernel's text");
	out->code = malloc(BYTES_MAX);
	out->fix = calloc(FIXES, sizeof(*out->fix));
	if (!out->code || !out->fix) {
		ki_long_code_free(out);
		return ki_err_set(err, -ENOMEM, addr, "KCOV: out of memory");
	}
	make(out, addr, (site->dead & rax) != rax,
	     (site->dead & KI_REGSET_FLAGS) != KI_REGSET_FLAGS);
	return 0;
}
