/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef KI_RECORD_RECORDING_H
#define KI_RECORD_RECORDING_H

#include "kerninst/record.h"

/* ki_recording_new of bytes that begin at a multiple of 8 and live as long as the recording. name:
   for errors. */
int ki_recording_of(const void *bytes, size_t size, const char *name, struct ki_recording **out,
		    struct ki_err *err);

#endif
