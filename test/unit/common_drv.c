// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the kernel gives to vet_long.c, vet_memory.c and form.c, in small. The decoder's structure
 * is filled from Zydis; that the kernel's own says the same is seen in the guest.
 */
#include "common_drv.h"
#include "kernel_types.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <Zydis/Zydis.h>

#define KI_SYMBOLS_H
#define ki_call(name)	      name
#define ARRAY_SIZE(a)	      (sizeof(a) / sizeof(*(a)))
#define INSN_MODE_64	      0
#define kvmalloc(n, flags)    malloc(n)
#define kvfree(p)	      free(p)
#define bitmap_free(p)	      free(p)
#define module_put(m)	      ((void)(m))
#define fallthrough	      __attribute__((fallthrough))
#define WORD		      (8 * sizeof(unsigned long))
#define BIT(n)		      (1ul << (n))
#define U16_MAX		      UINT16_MAX
#define bitmap_zalloc(n, fla) calloc((n) / WORD + 1, sizeof(unsigned long))

struct insn_field {
	s32 value;
	u8 bytes[4];
	u8 nbytes;
};

struct insn {
	struct insn_field prefixes, rex_prefix, vex_prefix, opcode, modrm, sib, displacement,
		immediate;
	int emulate_prefix_size;
	u8 length;
};

static void __set_bit(u64 n, unsigned long *map)
{
	map[n / WORD] |= 1ul << n % WORD;
}

static bool test_bit(u64 n, const unsigned long *map)
{
	return map[n / WORD] >> n % WORD & 1;
}

static bool bitmap_subset(const unsigned long *a, const unsigned long *b, u32 n)
{
	for (u32 i = 0; i < n; i++)
		if (test_bit(i, a) && !test_bit(i, b))
			return false;
	return true;
}

static void set_operand(struct insn *in, const ZydisDecodedInstruction *z, const u8 *bytes)
{
	if (!(z->attributes & ZYDIS_ATTRIB_HAS_MODRM))
		return;
	in->modrm.nbytes = 1;
	in->modrm.value = in->modrm.bytes[0] = bytes[z->raw.modrm.offset];
	if ((in->modrm.bytes[0] & 0xc0) != 0xc0 && (in->modrm.bytes[0] & 7) == 4) {
		in->sib.nbytes = 1;
		in->sib.value = in->sib.bytes[0] = bytes[z->raw.modrm.offset + 1];
	}
	in->displacement.nbytes = z->raw.disp.size / 8;
}

static void set_prefixes(struct insn *in, const ZydisDecodedInstruction *z, const u8 *bytes)
{
	static const u8 all[] = {0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65, 0x66, 0x67, 0xf0, 0xf2, 0xf3};

	while (in->prefixes.nbytes < 4 && memchr(all, bytes[in->prefixes.nbytes], sizeof(all))) {
		in->prefixes.bytes[in->prefixes.nbytes] = bytes[in->prefixes.nbytes];
		in->prefixes.nbytes++;
	}
	if (!(z->attributes & ZYDIS_ATTRIB_HAS_REX))
		return;
	in->rex_prefix.nbytes = 1;
	in->rex_prefix.bytes[0] = bytes[in->prefixes.nbytes];
}

static int insn_decode(struct insn *in, const u8 *bytes, size_t len, int mode)
{
	static ZydisDecoder d;
	static bool ready;
	ZydisDecodedInstruction z;

	(void)mode;
	if (!ready)
		ZydisDecoderInit(&d, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	ready = true;
	memset(in, 0, sizeof(*in));
	if (ZYAN_FAILED(ZydisDecoderDecodeInstruction(&d, NULL, bytes, len, &z)) ||
	    z.encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY ||
	    (z.opcode_map != ZYDIS_OPCODE_MAP_DEFAULT && z.opcode_map != ZYDIS_OPCODE_MAP_0F))
		return -1;
	set_prefixes(in, &z, bytes);
	if (z.opcode_map == ZYDIS_OPCODE_MAP_0F)
		in->opcode.bytes[in->opcode.nbytes++] = 0x0f;
	in->opcode.bytes[in->opcode.nbytes++] = z.opcode;
	set_operand(in, &z, bytes);
	in->length = z.length;
	return 0;
}

/* the kernel is built without these */
#pragma GCC diagnostic ignored "-Wcast-qual"
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#include "../../kmod/form.c"
#include "../../kmod/vet_forms.c"
#include "../../kmod/vet_long.c"
#include "../../kmod/vet_memory.c"

static uint32_t own_counters, own_globals;

bool ki_counters_own(const struct ki_session *s, u64 n, u64 count)
{
	(void)s;
	return n < own_counters && count <= own_counters - n;
}

bool ki_globals_own(const struct ki_session *s, u64 n, u64 count)
{
	(void)s;
	return n < own_globals && count <= own_globals - n;
}

bool ki_words_own(const struct ki_session *s, u64 n, u64 count)
{
	(void)s;
	return n < DRV_WORDS && count <= DRV_WORDS - n;
}

bool ki_ring_own(const struct ki_session *s, u64 n)
{
	(void)s;
	return n < DRV_RINGS;
}

bool ki_table_own(const struct ki_session *s, u32 number, struct ki_table_shape *out)
{
	(void)s;
	*out = (struct ki_table_shape){.keys = DRV_TABLE_KEYS(number),
				       .values = DRV_TABLE_VALUES,
				       .shared = DRV_TABLE_SHARED(number)};
	return number < DRV_TABLES;
}

bool ki_stacks_own(const struct ki_session *s, u64 n)
{
	(void)s;
	return n < DRV_RINGS;
}

u16 ki_verify_callee(unsigned long target, struct module **owner)
{
	(void)target;
	*owner = NULL;
	return KI_R_OK;
}

unsigned int drv_vet_long(const uint8_t *code, uint32_t len, const struct ki_fixup *fix,
			  uint32_t nfix, uint32_t counters, uint32_t globals)
{
	struct ki_long_code c = {.len = len, .nfix = nfix};
	unsigned int reason;

	own_counters = counters;
	own_globals = globals;
	c.fix = malloc((nfix + 1) * sizeof(*fix) + 2 * (size_t)len);
	if (!c.fix)
		return KI_R_NO_MEMORY;
	c.code = (u8 *)(c.fix + nfix + 1);
	c.depth = c.code + len;
	if (nfix)
		memcpy(c.fix, fix, nfix * sizeof(*fix));
	memset(c.fix + nfix, 0, sizeof(*fix)); /* it may look at the one behind the last */
	memcpy(c.code, code, len);
	reason = ki_vet_long(NULL, &c);
	free(c.fix);
	return reason;
}
