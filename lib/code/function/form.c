/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "code/function/form.h"

#include <string.h>

static int64_t immediate(const uint8_t *p, unsigned int len)
{
	int32_t v;

	int16_t word;
	int64_t quad;

	if (len == 1)
		return (int8_t)*p;
	if (len == 2) {
		memcpy(&word, p, 2);
		return word;
	}
	if (len == 8) {
		memcpy(&quad, p, 8);
		return quad;
	}
	memcpy(&v, p, 4);
	return v;
}

/* ModRM with what follows; false if it is cut off. */
static bool parse_modrm(const uint8_t *p, unsigned int len, uint8_t rex, struct ki_form *f,
			unsigned int *used)
{
	uint8_t mod, rm, b = rex & 1 ? 8 : 0, x = rex & 2 ? 8 : 0;
	unsigned int n = 1, disp;

	if (!len)
		return false;
	mod = *p >> 6;
	rm = *p & 7;
	f->reg = (uint8_t)((*p >> 3 & 7) | (rex & 4 ? 8 : 0));
	f->rm = f->base = f->index = KI_NO_REG;
	if (mod == 3) {
		f->rm = rm | b;
		*used = 1;
		return true;
	}
	disp = mod == 1 ? 1 : mod == 2 ? 4 : 0;
	if (rm == 4) {
		if (len < 2)
			return false;
		n = 2;
		f->scale = (uint8_t)(1 << (p[1] >> 6));
		if ((p[1] >> 3 & 7) != 4 || x)
			f->index = (uint8_t)((p[1] >> 3 & 7) | x);
		if (mod == 0 && (p[1] & 7) == 5)
			disp = 4;
		else
			f->base = (uint8_t)((p[1] & 7) | b);
	} else if (mod == 0 && rm == 5) {
		f->rip = true;
		disp = 4;
	} else {
		f->base = rm | b;
	}
	if (len < n + disp)
		return false;
	if (disp)
		f->disp = immediate(p + n, disp);
	*used = n + disp;
	return true;
}

static bool is_prefix(uint8_t b)
{
	return b == 0x66 || b == 0x3e || b == 0xf2 || b == 0x2e;
}

bool ki_form_parse(const struct ki_function *fn, const struct ki_insn *in, struct ki_form *f)
{
	const uint8_t *p = fn->bytes + (in->addr - fn->start), *end = p + in->len;
	uint8_t rex = 0;
	unsigned int used;

	*f = (struct ki_form){.base = KI_NO_REG, .index = KI_NO_REG, .rm = KI_NO_REG};
	while (p < end && is_prefix(*p))
		p++;
	if (p < end && (*p & 0xf0) == 0x40)
		rex = *p++;
	if (p < end && *p == 0x0f && p + 1 < end) {
		f->opcode = (uint16_t)(0x0f00 | p[1]);
		p += 2;
	} else if (p < end) {
		f->opcode = *p++;
	}
	if ((f->opcode & ~7) == 0xb8 && end - p >= 4) { /* mov $imm, reg */
		f->rm = (uint8_t)((f->opcode & 7) | (rex & 1 ? 8 : 0));
		f->imm = immediate(p, (unsigned int)(end - p));
		return true;
	}
	if (f->opcode == 0x05 || f->opcode == 0x2d || f->opcode == 0x98) { /* add, sub, cltq */
		f->rm = KI_RAX;
		return true;
	}
	if ((f->opcode == 0x3c || f->opcode == 0x3d) && p < end) { /* cmp $imm, %eax */
		f->rm = KI_RAX;
		f->reg = 7;
		f->imm = immediate(p, f->opcode == 0x3c ? 1 : end - p < 4 ? 2 : 4);
		return true;
	}
	if (!parse_modrm(p, (unsigned int)(end - p), rex, f, &used))
		return false;
	p += used;
	if (f->opcode == 0x80 || f->opcode == 0x83 || f->opcode == 0xc1)
		f->imm = p < end ? immediate(p, 1) : 0;
	else if ((f->opcode == 0x81 || f->opcode == 0xc7) && end - p >= 2)
		f->imm = immediate(p, end - p < 4 ? 2 : 4);
	return true;
}
