// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include "util/text.h"

#include <ctype.h>

void ki_text_quote(FILE *f, const char *text)
{
	fputc('"', f);
	for (; *text; text++)
		if (*text == '"' || *text == '\\')
			fprintf(f, "\\%c", *text);
		else if (isprint((unsigned char)*text))
			fputc(*text, f);
		else
			fprintf(f, "\\%03o", (unsigned char)*text);
	fputc('"', f);
}
