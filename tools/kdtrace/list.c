// SPDX-License-Identifier: GPL-2.0-only
#include "list.h"

#include <string.h>

#include "options.h"

/* There are many of these lines: no printf. */
static char *right(char *to, const char *text, size_t width)
{
	size_t n = strlen(text);

	if (n < width) {
		memset(to, ' ', width - n);
		to += width - n;
	}
	memcpy(to, text, n);
	to[n] = ' ';
	return to + n + 1;
}

static const char *decimal(uint32_t n, char text[16])
{
	char *at = text + 15;

	*at = 0;
	do
		*--at = (char)('0' + n % 10);
	while (n /= 10);
	return at;
}

static void list_one(const struct ki_dlang_probe *p, FILE *out)
{
	char line[1024], id[16], *end = line;

	if (strlen(p->provider) + strlen(p->module) + strlen(p->function) + strlen(p->name) >
	    sizeof(line) - 128)
		return;
	end = right(end, decimal(p->id, id), 5);
	end = right(end, p->provider, 10);
	end = right(end, p->module, 17);
	end = right(end, p->function, 33);
	end = right(end, p->name, 0);
	end[-1] = '\n';
	fwrite(line, 1, (size_t)(end - line), out);
}

void list_stability(FILE *out, const char *of, const struct ki_dlang_stability *is)
{
	fprintf(out,
		"\n\t%s Attributes\n\t\tIdentifier Names: %s\n\t\tData Semantics:   %s\n"
		"\t\tDependency Class: %s\n",
		of, is->names, is->data, is->where);
}

static void list_arguments(struct ki_dlang *d, size_t i, FILE *out)
{
	struct ki_dlang_stability probe, arguments;
	char text[256];
	unsigned int n = 0;

	ki_dlang_stability(d, i, &probe, &arguments);
	list_stability(out, "Probe Description", &probe);
	list_stability(out, "Argument", &arguments);
	fputs("\n\tArgument Types\n", out);
	for (; ki_dlang_argument(d, i, n, text, sizeof(text)); n++)
		fprintf(out, "\t\targs[%u]: %s\n", n, text);
	fputs(n ? "\n" : "\t\tNone\n\n", out);
}

void list_probes(struct ki_dlang *d, FILE *out, bool with_arguments)
{
	size_t n = ki_dlang_probes(d);
	struct ki_dlang_probe p;

	fprintf(out, "%5s %10s %17s %33s %s\n", "ID", "PROVIDER", "MODULE", "FUNCTION", "NAME");
	for (size_t i = 0; i < n; i++) {
		ki_dlang_probe(d, i, &p);
		list_one(&p, out);
		if (with_arguments)
			list_arguments(d, i, out);
	}
	fflush(out);
	for (size_t i = 0; i < ki_dlang_descriptions(d); i++) {
		char text[512];

		if (!ki_dlang_description(d, i, text, sizeof(text)))
			say("failed to match %s: No probe matches description", text);
	}
}
