// SPDX-License-Identifier: GPL-2.0-only
/* An instrument that does nothing: what it costs to call one. */
#include <kerninst/instrument.h>

KI_INSTRUMENT(bench_call, "always true", (const void *file, size_t len))
{
	return 1;
}

KI_INSTRUMENT_MODULE("kerninst: an instrument of the benchmark");
