/* SPDX-License-Identifier: GPL-2.0-only */
/* Where the recordings of tests come from. */
#ifndef ORIGIN_FIXTURE_H
#define ORIGIN_FIXTURE_H

#include "kerninst/record.h"

static const struct ki_record_origin origin = {.kernel = "6.1.0-test",
					       .build = "0123abcd",
					       .boot = "boot",
					       .host = "host",
					       .command = "vfs_read",
					       .cpus = 4,
					       .tsc_khz = 2000000,
					       .tsc = 1000,
					       .time = 1700000000000000000};

#endif
