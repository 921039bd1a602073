// SPDX-License-Identifier: GPL-2.0-only
/*
 * The driver's check of long chunks and its copies of instructions over the decoder of one kernel:
 * all as they are, in one object for each kernel (decoder.mk), of which only DRV_VET, DRV_READ and
 * DRV_COPY are seen. The kernel around them is here in small.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common_drv.h"
#include "kernel_types.h"

#define KI_SYMBOLS_H
#define ki_call(name)	   name
#define ARRAY_SIZE(a)	   (sizeof(a) / sizeof(*(a)))
#define unlikely(x)	   (x)
#define BUILD_BUG()	   abort()
#define IS_ENABLED(option) 1
#define le32_to_cpu(x)	   (x)
#define le16_to_cpu(x)	   (x)
#define get_unaligned(p)                                                                           \
	({                                                                                         \
		__typeof__(*(p)) got_;                                                             \
		memcpy(&got_, (p), sizeof(got_));                                                  \
		got_;                                                                              \
	})
#define bitmap_free(p)	      free(p)
#define module_put(m)	      ((void)(m))
#define fallthrough	      __attribute__((fallthrough))
#define WORD		      (8 * sizeof(unsigned long))
#define BIT(n)		      (1ul << (n))
#define U16_MAX		      UINT16_MAX
#define bitmap_zalloc(n, fla) calloc((n) / WORD + 1, sizeof(unsigned long))

/* the kernel is built without these */
#pragma GCC diagnostic ignored "-Wpragmas"
#pragma GCC diagnostic ignored "-Wcast-qual"
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wpointer-arith"
#pragma GCC diagnostic ignored "-Wundef"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#include "insn.c"
#include "inat.c"

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

#include "../../kmod/vet/form.c"
#include "../../kmod/vet/vet_forms.c"
#include "../../kmod/vet/vet_long.c"
#include "../../kmod/vet/vet_memory.c"
#include "../../kmod/vet/head.c"
#include "../../kmod/vet/copy.c"

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

bool ki_texts_own(const struct ki_session *s, u64 n)
{
	(void)s;
	return n < DRV_RINGS;
}

bool ki_paths_known = true;

u16 ki_verify_callee(unsigned long target, struct module **owner)
{
	(void)target;
	*owner = NULL;
	return KI_R_OK;
}

u16 ki_may_sleep(unsigned long target)
{
	return KI_R_OK;
}

unsigned int DRV_VET(const uint8_t *code, uint32_t len, const struct ki_fixup *fix, uint32_t nfix,
		     uint32_t counters, uint32_t globals)
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
	memset(c.fix + nfix, 0, sizeof(*fix)); /* it may look at the one after the last */
	memcpy(c.code, code, len);
	reason = ki_vet_long(NULL, &c);
	free(c.fix);
	return reason;
}

bool DRV_READ(const uint8_t *code, uint32_t len, struct drv_instr *out)
{
	struct ki_instr in;

	if (!ki_instr_read(code, len, &in))
		return false;
	*out = (struct drv_instr){.len = in.len,
				  .is = (uint8_t)in.form->class,
				  .size = in.size,
				  .bytes = in.bytes,
				  .imm = in.imm,
				  .written = ki_instr_written(&in),
				  .memory = in.memory,
				  .gs = in.gs,
				  .lock = in.lock};
	return true;
}

unsigned int DRV_COPY(uint64_t addr, const uint8_t *bytes, uint32_t len, struct ki_copy *out,
		      uint8_t *flow)
{
	return ki_copy_emit(addr, bytes, len, out, flow);
}
