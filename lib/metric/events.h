/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Events that processors and the kernel count: what each is called, and how it is asked for here.
 */
#ifndef KI_METRIC_EVENTS_H
#define KI_METRIC_EVENTS_H

#include "kerninst/splice.h"

/* Processors whose own events are known. */
enum ki_model { KI_MODEL_OTHER, KI_MODEL_SKYLAKE, KI_MODEL_ICELAKE, KI_MODEL_ZEN, KI_MODELS };

enum ki_event_id {
	EVENT_NONE,
#define KI_EVENT(id, name, type, config, skylake, icelake, zen) EVENT_##id,
#define KI_NO_EVENT(id, name, why)				EVENT_##id,
#include "metric/events.def"
#undef KI_EVENT
#undef KI_NO_EVENT
	EVENTS,
	EVENT_RAW = EVENTS /* by its number on this processor */
};

const char *ki_event_name(enum ki_event_id id);

/* By CPUID: what vendor, family and model it is. */
enum ki_model ki_model_of(const char *vendor, unsigned int family, unsigned int model);

/* How an event is asked for on that kind of processor; KI_R_EVENT_UNKNOWN: in no way known here. */
int ki_event_spec_of(enum ki_event_id id, enum ki_model model, struct ki_event_spec *out,
		     struct ki_err *err);

/* The same on this machine. */
int ki_event_spec_here(enum ki_event_id id, struct ki_event_spec *out, struct ki_err *err);

struct ki_event_ask;
int ki_event_spec_asked(const struct ki_event_ask *ask, struct ki_event_spec *out,
			struct ki_err *err);

#endif
