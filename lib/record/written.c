// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Records that instruments write: what is in them their module says, as "[TYPE ]FIELD[/UNIT],...".
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kerninst/record_values.h"
#include "predicate/ast.h"

static int bad(const struct ki_record_written *w, const char *field, struct ki_err *err)
{
	return ki_err_set(err, -EINVAL, 0,
			  "instrument %s: '%s' is no field of a record: [TYPE ]NAME[/UNIT]",
			  w->name, field);
}

static int add_field(struct ki_record_written *w, char *text, struct ki_err *err)
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
		return bad(w, text, err);
	if (blank)
		f.type = (uint8_t)type;
	if (slash)
		ki_record_field_unit(&f, slash + 1);
	w->fields[w->n++] = f;
	return 0;
}

static int parse(struct ki_record_written *w, const char *name, const char *records,
		 struct ki_err *err)
{
	char *at;
	int ret = 0;

	w->name = name;
	w->text = strdup(records);
	if (!w->text)
		return ki_err_set(err, -ENOMEM, 0, "out of memory");
	for (char *field = strtok_r(w->text, ",", &at); !ret && field;
	     field = strtok_r(NULL, ",", &at))
		ret = add_field(w, field, err);
	return ret;
}

int ki_record_written_when(struct ki_record_values *v, const struct ki_predicate *expr,
			   struct ki_err *err)
{
	const char *records, *name = expr ? ki_predicate_recording(expr, &records) : NULL;

	if (!name || (v->written.name && !strcmp(name, v->written.name)))
		return 0;
	if (v->written.name)
		return ki_err_set(err, -EINVAL, 0,
				  "%s and %s both write records: one of them for one point",
				  v->written.name, name);
	return parse(&v->written, name, records, err);
}

int ki_record_written_find(struct ki_record_values *v, struct ki_err *err)
{
	int ret = 0;

	for (unsigned int i = 0; !ret && i < v->n; i++)
		ret = ki_record_written_when(v, v->values[i].expr, err);
	return ret;
}
