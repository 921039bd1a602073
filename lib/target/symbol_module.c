// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include "kerninst/target.h"

const char *ki_symbol_module(const struct ki_symbol *sym)
{
	return *sym->module ? sym->module : "kernel";
}
