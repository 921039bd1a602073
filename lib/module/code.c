// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The code as it is to be when it is loaded.
 *
 * The kernel puts each static branch from its first state, which the key tells, into the one that
 * it has now, and each static call from a call to anywhere. It trusts that the bytes are so: what
 * was copied from running code is in the state of that moment. Where a relocation is written the
 * kernel wants zeros.
 */
#include <string.h>

#include "module/file.h"

#define SHORT 2
#define LONG  5

#define STATIC_CALL_TAIL 1

#define PAGE 4096
#define INT3 0xcc

static const uint8_t nops[] = {0x66, 0x90, 0x0f, 0x1f, 0x44, 0x00, 0x00};

/* Bytes of the static branch at p, jump or nop; 0: it is none. */
static size_t branch_len(const uint8_t *p, size_t avail)
{
	if (avail >= SHORT && (*p == 0xeb || !memcmp(p, nops, SHORT)))
		return SHORT;
	if (avail >= LONG && (*p == 0xe9 || !memcmp(p, nops + SHORT, LONG)))
		return LONG;
	return 0;
}

static bool is_jcc(const uint8_t *p)
{
	return p[0] == 0x0f && (p[1] & 0xf0) == 0x80;
}

/* Does the kernel write these bytes anyway? */
static bool is_site(const struct ki_module_code *c, uint32_t off)
{
	for (size_t i = 0; i < c->njumps; i++) {
		const uint32_t at = c->jumps[i].off;

		if (off >= at && off < at + branch_len(c->code + at, c->len - at))
			return true;
	}
	for (size_t i = 0; i < c->ncalls; i++)
		if (off >= c->calls[i].off && off < c->calls[i].off + LONG)
			return true;
	return false;
}

static int too_far(const struct ki_module_code *c, uint32_t off, struct ki_err *err)
{
	return ki_err_set(err, -ERANGE, 0, "module %s: what is named at +%u is too far away",
			  c->name, off);
}

static int put_fix(struct ki_module_file *f, const struct ki_module_code *c,
		   const struct ki_module_fix *x, struct ki_err *err)
{
	static const uint32_t types[] = {R_X86_64_PC32, R_X86_64_32S, R_X86_64_64};
	const struct ki_module_place place = {x->inside, x->target};
	const bool relative = x->kind == KI_MODULE_PC32;
	const size_t n = x->kind == KI_MODULE_ABS64 ? 8 : 4;
	int64_t value = (int64_t)x->target + x->addend - (relative ? (int64_t)x->off : 0);
	uint8_t *p = f->parts[KI_MODULE_TEXT].bytes.v + x->off;

	memset(p, 0, n);
	/* Relative and inside, or neither: it is known by now. */
	if (relative != x->inside)
		return ki_module_refer(f, KI_MODULE_TEXT, types[x->kind], x->off, &place,
				       x->addend);
	if (n == 4 && value != (int32_t)value)
		return too_far(c, x->off, err);
	memcpy(p, &value, n);
	return 0;
}

static int put_jump(struct ki_module_file *f, const struct ki_module_code *c,
		    const struct ki_module_jump *j, struct ki_err *err)
{
	const size_t n = branch_len(c->code + j->off, c->len - j->off);
	const int64_t by = (int64_t)j->target.at - (int64_t)(j->off + n);
	uint8_t *p = f->parts[KI_MODULE_TEXT].bytes.v + j->off;

	if (!n)
		return ki_err_set(err, -EINVAL, 0, "module %s: there is no static branch at +%u",
				  c->name, j->off);
	if (j->first != KI_MODULE_NOP && j->first != KI_MODULE_JUMP)
		return ki_err_set(err, -EINVAL, 0,
				  "module %s: the first state of the static branch at +%u is not "
				  "known",
				  c->name, j->off);
	if (n == SHORT && (!j->target.inside || by != (int8_t)by))
		return too_far(c, j->off, err);
	if (j->first == KI_MODULE_NOP) {
		memcpy(p, n == SHORT ? nops : nops + SHORT, n);
		return 0;
	}
	memset(p, 0, n);
	*p = n == SHORT ? 0xeb : 0xe9;
	if (!j->target.inside)
		return ki_module_refer(f, KI_MODULE_TEXT, R_X86_64_PC32, j->off + 1, &j->target,
				       -4);
	memcpy(p + 1, &by, n - 1);
	return 0;
}

/* A call or a jump to what follows, until the kernel puts in what the key says. */
static void put_call(struct ki_module_file *f, const struct ki_module_code *c,
		     const struct ki_module_call *x)
{
	uint8_t *p = f->parts[KI_MODULE_TEXT].bytes.v + x->off;

	if (x->key & STATIC_CALL_TAIL && is_jcc(p) && x->off + LONG < c->len) {
		memset(p + 2, 0, LONG - 1);
		return;
	}
	memset(p, 0, LONG);
	*p = x->key & STATIC_CALL_TAIL ? 0xe9 : 0xe8;
}

/*
 * Up to the end of its pages, which is where the kernel takes the last function to end: what stands
 * there is filler, and not whatever memory held.
 */
static int put_filler(struct ki_module_file *f, size_t len)
{
	const size_t n = (PAGE - len % PAGE) % PAGE;
	int ret = ki_module_put(f, KI_MODULE_TEXT, NULL, n);

	if (!ret)
		memset(f->parts[KI_MODULE_TEXT].bytes.v + len, INT3, n);
	return ret;
}

int ki_module_put_code(struct ki_module_file *f, const struct ki_module_code *c, struct ki_err *err)
{
	int ret = ki_module_put(f, KI_MODULE_TEXT, c->code, c->len);

	if (!ret)
		ret = put_filler(f, c->len);
	for (size_t i = 0; !ret && i < c->nfixes; i++)
		if (!is_site(c, c->fixes[i].off))
			ret = put_fix(f, c, &c->fixes[i], err);
	for (size_t i = 0; !ret && i < c->njumps; i++)
		ret = put_jump(f, c, &c->jumps[i], err);
	for (size_t i = 0; !ret && i < c->ncalls; i++)
		put_call(f, c, &c->calls[i]);
	return ret;
}
