/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What a recording that is being read says of the code that it is about.
 */
#ifndef KI_RECORD_READ_CODE_H
#define KI_RECORD_READ_CODE_H

#include "kerninst/record.h"
#include "record/rest.h"
#include "util/vec.h"

struct known_code {
	ki_vec(struct ki_record_function) functions;
	ki_vec(struct ki_record_module) modules;
};

/* Payloads of chunks: all of it or nothing. 0; -EBADMSG: this cannot be; -ENOMEM. */
int ki_known_functions_read(struct known_code *k, struct ki_rest rest);
int ki_known_modules_read(struct known_code *k, struct ki_rest rest);
void ki_known_code_free(struct known_code *k);

#endif
