// SPDX-License-Identifier: GPL-2.0-only
#include "common_drv.h"

#include <stdlib.h>
#include <string.h>

typedef unsigned int vet_fn(const uint8_t *code, uint32_t len, const struct ki_fixup *fix,
			    uint32_t nfix, uint32_t counters, uint32_t globals);
typedef bool read_fn(const uint8_t *code, uint32_t len, struct drv_instr *out);

typedef unsigned int copy_fn(uint64_t addr, const uint8_t *bytes, uint32_t len, struct ki_copy *out,
			     uint8_t *flow);

vet_fn drv_vet_6_1, drv_vet_6_12;
read_fn drv_read_6_1, drv_read_6_12;
copy_fn drv_copy_6_1, drv_copy_6_12;

unsigned int drv_vet_long(const uint8_t *code, uint32_t len, const struct ki_fixup *fix,
			  uint32_t nfix, uint32_t counters, uint32_t globals)
{
	unsigned int reason = drv_vet_6_1(code, len, fix, nfix, counters, globals);

	if (drv_vet_6_12(code, len, fix, nfix, counters, globals) != reason)
		abort();
	return reason;
}

bool drv_read(const uint8_t *code, uint32_t len, struct drv_instr *out)
{
	struct drv_instr other;
	bool may = drv_read_6_1(code, len, out);

	if (drv_read_6_12(code, len, &other) != may || (may && memcmp(&other, out, sizeof(*out))))
		abort();
	return may;
}

unsigned int drv_copy(unsigned int kernel, const struct drv_original *of, struct ki_copy *out,
		      uint8_t *flow)
{
	static copy_fn *const of_kernel[DRV_KERNELS] = {drv_copy_6_1, drv_copy_6_12};

	return of_kernel[kernel](of->addr, of->bytes, of->len, out, flow);
}
