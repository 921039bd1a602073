// SPDX-License-Identifier: GPL-2.0-only
/* An instrument of a version of the interface that there is not. */
#define KI_INSTRUMENT_VERSION 99
#include <kerninst/instrument.h>

KI_INSTRUMENT(old_one, "cannot be used", (void))
{
	return 0;
}

KI_INSTRUMENT_MODULE("kerninst: an instrument of another version");
