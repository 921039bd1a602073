// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The table of events. What the kernel has a name for it finds for each processor by itself. Of the
 * rest the numbers differ from one generation to the next, and a wrong one counts something else
 * without a word; so a number is used only on processors of which it is known.
 */
#include <cpuid.h>
#include <linux/perf_event.h>
#include <string.h>

#include "metric/events.h"
#include "metric/table.h"

#define LENGTH(v) (sizeof(v) / sizeof(*(v)))

struct event_row {
	const char *name;
	const char *never; /* why no processor counts it; NULL: some do */
	uint32_t type;	   /* PERF_TYPE_MAX: the kernel has no name for it */
	uint64_t config;
	uint64_t raw[KI_MODELS];
};

static const struct event_row rows[EVENTS] = {
#define KI_EVENT(id, name_, type_, config_, skylake, icelake, zen)                                 \
	[EVENT_##id] = {.name = (name_),                                                           \
			.type = (type_),                                                           \
			.config = (config_),                                                       \
			.raw = {0, (skylake), (icelake), (zen)}},
#define KI_NO_EVENT(id, name_, why) [EVENT_##id] = {.name = (name_), .never = (why)},
#include "metric/events.def"
#undef KI_EVENT
#undef KI_NO_EVENT
};

const char *ki_event_name(enum ki_event_id id)
{
	return rows[id].name;
}

static const uint8_t skylakes[] = {0x4e, 0x5e, 0x55, 0x8e, 0x9e, 0xa5, 0xa6};
static const uint8_t icelakes[] = {0x6a, 0x6c, 0x7d, 0x7e, 0x8c, 0x8d, 0xa7};

/* Zen 4 is of the same family. */
static bool is_zen3(unsigned int family, unsigned int model)
{
	return family == 0x19 && (model < 0x10 || (model >= 0x20 && model < 0x60));
}

enum ki_model ki_model_of(const char *vendor, unsigned int family, unsigned int model)
{
	if (!strcmp(vendor, "AuthenticAMD"))
		return is_zen3(family, model) ? KI_MODEL_ZEN : KI_MODEL_OTHER;
	if (strcmp(vendor, "GenuineIntel") != 0 || family != 6)
		return KI_MODEL_OTHER;
	for (size_t i = 0; i < LENGTH(skylakes); i++)
		if (skylakes[i] == model)
			return KI_MODEL_SKYLAKE;
	for (size_t i = 0; i < LENGTH(icelakes); i++)
		if (icelakes[i] == model)
			return KI_MODEL_ICELAKE;
	return KI_MODEL_OTHER;
}

static enum ki_model model_here(void)
{
	unsigned int eax, v[3], family, model;
	char vendor[13] = "";

	if (!__get_cpuid(0, &eax, &v[0], &v[2], &v[1]))
		return KI_MODEL_OTHER;
	memcpy(vendor, v, 12);
	if (!__get_cpuid(1, &eax, &v[0], &v[2], &v[1]))
		return KI_MODEL_OTHER;
	family = (eax >> 8 & 0xf) + ((eax >> 8 & 0xf) == 0xf ? eax >> 20 & 0xff : 0);
	model = (eax >> 4 & 0xf) | (eax >> 12 & 0xf0);
	return ki_model_of(vendor, family, model);
}

int ki_event_spec_of(enum ki_event_id id, enum ki_model model, struct ki_event_spec *out,
		     struct ki_err *err)
{
	const struct event_row *r = &rows[id];

	if (r->never)
		return ki_err_reason(err, KI_R_EVENT_UNKNOWN, 0, "%s: %s", r->name, r->never);
	*out = (struct ki_event_spec){.type = r->type, .config = r->config, .name = r->name};
	if (r->type != PERF_TYPE_MAX)
		return 0;
	out->type = PERF_TYPE_RAW;
	out->config = r->raw[model];
	if (out->config)
		return 0;
	return ki_err_reason(err, KI_R_EVENT_UNKNOWN, 0,
			     "%s: its number on this processor is not known", r->name);
}

int ki_event_spec_here(enum ki_event_id id, struct ki_event_spec *out, struct ki_err *err)
{
	return ki_event_spec_of(id, model_here(), out, err);
}

int ki_event_spec_asked(const struct ki_event_ask *ask, struct ki_event_spec *out,
			struct ki_err *err)
{
	if (ask->id != EVENT_RAW)
		return ki_event_spec_here((enum ki_event_id)ask->id, out, err);
	*out = (struct ki_event_spec){
		.type = PERF_TYPE_RAW, .config = ask->raw, .name = "event by its number"};
	return 0;
}
