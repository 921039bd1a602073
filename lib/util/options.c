// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include "util/options.h"

#include <getopt.h>
#include <string.h>

#define ROWS_MAX 40
#define LONG	 0x100 /* options without a letter are numbers from here on */

static bool takes_value(const struct ki_option *r)
{
	return r->take && r->take != ki_option_no && r->letter != KI_OPTION_NO_VALUE;
}

static void list_options(const struct ki_option *rows, size_t n, struct option *options,
			 char *letters)
{
	struct option *o = options;

	*letters++ = rows[0].name ? ':' : '-';
	if (!rows[0].name)
		*letters++ = ':';
	for (size_t i = 0; i < n; i++) {
		if (!rows[i].name)
			continue;
		*o++ = (struct option){rows[i].name,
				       rows[i].letter == KI_OPTION_OPTIONAL ? optional_argument
				       : takes_value(&rows[i])		    ? required_argument
									    : no_argument,
				       NULL, LONG + (int)i};
		if (rows[i].letter > 0)
			letters = stpcpy(letters, (char[]){(char)rows[i].letter,
							   takes_value(&rows[i]) ? ':' : 0, 0});
	}
	*o++ = (struct option){"help", no_argument, NULL, 'h'};
	*o = (struct option){0};
	stpcpy(letters, "h");
}

static int take_row(const void *ctx, const struct ki_option *rows, int option)
{
	const struct ki_option *r = rows;

	if (option >= LONG)
		r += option - LONG;
	else if (option != 1) /* an argument: the first row */
		while (r->letter != option)
			r++;
	if (r->take)
		return r->take(ctx, optarg, r->to);
	*(bool *)r->to = true;
	return 0;
}

int ki_option_no(const void *ctx, const char *value, void *to)
{
	(void)ctx;
	(void)value;
	*(bool *)to = false;
	return 0;
}

int ki_option_text(const void *ctx, const char *value, void *to)
{
	(void)ctx;
	*(const char **)to = value;
	return 0;
}

bool ki_options_parse(int argc, char **argv, const struct ki_options *o, int *ret)
{
	struct option options[ROWS_MAX + 2];
	char letters[2 * ROWS_MAX + 4];
	int c;

	list_options(o->rows, o->n, options, letters);
	*ret = 0;
	while (!*ret && (c = getopt_long(argc, argv, letters, options, NULL)) != -1) {
		if (c == 'h' || c == '?' || c == ':') {
			*ret = o->other(o->ctx, c, argv);
			return false;
		}
		*ret = take_row(o->ctx, o->rows, c);
	}
	return !*ret;
}
