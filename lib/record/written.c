// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records that instruments write: what is in them their module says, as "[TYPE ]FIELD[/UNIT],...".
 */
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "record_values.h"
#include "predicate/ast.h"

static int bad(const struct record_written *w, const char *field)
{
	return cli_error("instrument %s: '%s' is no field of a record: [TYPE ]NAME[/UNIT]", w->name,
			 field);
}

static int add_field(struct record_written *w, char *text)
{
	struct ki_record_field f = {.unit = "", .type = KI_U64};
	char *blank, *slash;
	enum ki_type type;

	text += strspn(text, " \t");
	blank = strrchr(text, ' ');
	slash = strchr(text, '/');
	if (blank)
		*blank = 0;
	if (slash)
		*slash = 0;
	f.name = blank ? blank + 1 : text;
	if (!*f.name || w->n == KI_RECORD_WORDS || (blank && ki_type_named(text, &type)))
		return bad(w, text);
	if (blank)
		f.type = (uint8_t)type;
	if (slash)
		record_field_unit(&f, slash + 1);
	w->fields[w->n++] = f;
	return CLI_OK;
}

static int parse(struct record_written *w, const char *name, const char *records)
{
	char *at;
	int ret = CLI_OK;

	w->name = name;
	w->text = strdup(records);
	if (!w->text)
		return cli_no_memory();
	for (char *field = strtok_r(w->text, ",", &at); !ret && field;
	     field = strtok_r(NULL, ",", &at))
		ret = add_field(w, field);
	return ret;
}

int record_written_when(struct record_values *v, const struct verb *self,
			const struct ki_predicate *expr)
{
	const char *records, *name = expr ? ki_predicate_recording(expr, &records) : NULL;

	if (!name || (v->written.name && !strcmp(name, v->written.name)))
		return CLI_OK;
	if (v->written.name)
		return cli_misuse(self, "%s and %s both write records: one of them for one point",
				  v->written.name, name);
	return parse(&v->written, name, records);
}

int record_written_find(struct record_values *v, const struct verb *self)
{
	int ret = CLI_OK;

	for (unsigned int i = 0; !ret && i < v->n; i++)
		ret = record_written_when(v, self, v->values[i].expr);
	return ret;
}
