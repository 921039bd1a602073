// SPDX-License-Identifier: GPL-2.0-only
/* README's instrument of one's own. */
#include <kerninst/instrument.h>

#include <linux/fs.h>

/* clang-format off */
KI_INSTRUMENT(mine, "the file's position", (struct file *file))
/* clang-format on */
{
	return file->f_pos;
}

KI_INSTRUMENT_MODULE("positions of reads");
