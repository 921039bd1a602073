// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include "dlang/probe/hook.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "dlang/probe/probe.h"
#include "dlang/run/run.h"

/* Where perf handles what a clock has: its parameters are the event, its data, the registers. */
#define PROFILE_FUNCTION "perf_event_output_forward"

/* What the kernel's structures have had at these offsets since 4.0. */
#define CALL_CLASS  16 /* trace_event_call.class */
#define CLASS_PROBE 16 /* trace_event_class.perf_probe */

static const char *const roots[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};
#define ROOTS (sizeof(roots) / sizeof(*roots))

static char *read_file(const char *path)
{
	FILE *f = fopen(path, "re");
	char *text = NULL;
	size_t size = 0;

	if (!f)
		return NULL;
	if (getdelim(&text, &size, '\0', f) <= 0) {
		free(text);
		text = NULL;
	}
	fclose(f);
	return text;
}

char *ki_d_hook_event_file(const char *name)
{
	char path[160], *text = NULL;

	for (size_t i = 0; !text && i < ROOTS; i++) {
		snprintf(path, sizeof(path), "%s/events/%.100s", roots[i], name);
		text = read_file(path);
	}
	return text;
}

char *ki_d_hook_events(void)
{
	char path[96], *text = NULL;

	for (size_t i = 0; !text && i < ROOTS; i++) {
		snprintf(path, sizeof(path), "%s/available_events", roots[i]);
		text = read_file(path);
	}
	return text;
}

int ki_d_hook_param(const struct ki_d_hook *h, unsigned int i)
{
	const char letter = ki_d_hook_letter(h, i);

	if (!h->map)
		return h->first + (int)i;
	return letter >= '0' && letter <= '9' ? letter - '0' : -1;
}

char ki_d_hook_letter(const struct ki_d_hook *h, unsigned int i)
{
	return h->map && i < strlen(h->map) ? h->map[i] : 0;
}

bool ki_d_hook_keeps(const struct ki_d_hook *h)
{
	return h->map && h->is_return && strpbrk(h->map, "kt");
}

bool ki_d_hook_tells(const struct ki_d_hook *h)
{
	return h->map && h->is_return && strpbrk(h->map, "ktK");
}

/* ---- events of perf ---- */

int ki_d_hook_event(struct ki_d_hook *h, struct perf_event_attr *attr, pid_t pid, int cpu)
{
	int fd = (int)syscall(SYS_perf_event_open, attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	int *fds = fd < 0 ? NULL : realloc(h->fds, (h->nfds + 1) * sizeof(*fds));

	if (fd < 0)
		return -errno;
	if (!fds) {
		close(fd);
		return -ENOMEM;
	}
	h->fds = fds;
	h->fds[h->nfds++] = fd;
	return 0;
}

void ki_d_hook_begin(struct ki_d_probe *p)
{
	for (unsigned int i = 0; p->hook && p->hook->kind == KI_D_HOOK_PROFILE && i < p->hook->nfds;
	     i++)
		ioctl(p->hook->fds[i], PERF_EVENT_IOC_ENABLE, 0);
}

void ki_d_hook_end(struct ki_d_probe *p)
{
	if (!p->hook)
		return;
	while (p->hook->nfds)
		close(p->hook->fds[--p->hook->nfds]);
	free(p->hook->fds);
	p->hook->fds = NULL;
}

/* ---- tracepoints ---- */

static long event_number(const struct ki_d_hook *h)
{
	char path[256], *text = NULL;
	long n = -1;

	for (size_t i = 0; !text && i < ROOTS; i++) {
		snprintf(path, sizeof(path), "%s/events/%s/%s/id", roots[i], h->group, h->event);
		text = read_file(path);
	}
	if (text)
		n = strtol(text, NULL, 10);
	free(text);
	return n;
}

#define EVENT "event_"

static int by_name(const void *a, const void *b)
{
	const struct ki_d_event *x = a, *y = b;

	return strcmp(x->name, y->name);
}

/* All symbols event_NAME of the kernel, once: a program may use many tracepoints. */
static int read_events(struct ki_d_run *r)
{
	FILE *f = fopen("/proc/kallsyms", "re");
	char *line = NULL;
	size_t size = 0;
	int ret = 0;

	r->events_read = true;
	while (f && !ret && getline(&line, &size, f) > 0) {
		char *name = strstr(line, " " EVENT);
		struct ki_d_event e = {.addr = strtoull(line, NULL, 16)};

		if (!name)
			continue;
		name += 1 + strlen(EVENT);
		e.name = strndup(name, strcspn(name, "\t\n "));
		ret = e.name && !ki_vec_push(&r->events, e) ? 0 : -ENOMEM;
		if (ret)
			free(e.name);
	}
	free(line);
	if (f)
		fclose(f);
	if (r->events.n)
		qsort(r->events.v, r->events.n, sizeof(*r->events.v), by_name);
	return ret;
}

/* The address of the kernel's event_NAME; 0: it is not known. */
static uint64_t event_address(struct ki_d_run *r, char *name)
{
	const struct ki_d_event want = {.name = name}, *found;

	if ((!r->events_read && read_events(r)) || !r->events.n)
		return 0;
	found = bsearch(&want, r->events.v, r->events.n, sizeof(want), by_name);
	return found ? found->addr : 0;
}

static bool read_word(struct ki_target *t, uint64_t addr, uint64_t *out)
{
	return !ki_target_read_data(t, addr, out, sizeof(*out), NULL);
}

static int find_tracepoint(struct ki_dlang *d, struct ki_d_probe *p)
{
	struct ki_d_hook *h = p->hook;
	struct perf_event_attr attr = {.type = PERF_TYPE_TRACEPOINT,
				       .size = sizeof(attr),
				       .disabled = 1,
				       .sample_period = UINT32_MAX};
	char *name = strdup(h->event);
	uint64_t event = name ? event_address(d->run, name) : 0, class, function;
	long number = event_number(h);

	free(name);
	if (!event || number < 0 || !read_word(d->run->t, event + CALL_CLASS, &class) ||
	    !read_word(d->run->t, class + CLASS_PROBE, &function))
		return -ENOENT;
	p->sym = ki_target_symbol_at(d->run->t, function);
	if (!p->sym || p->sym->addr != function || strncmp(p->sym->name, "perf_trace_", 11) != 0)
		return -ENOENT;
	h->guard[0] = (struct ki_d_guarded){.kind = KI_D_PARAM_IS, .value = event};
	attr.config = (uint64_t)number;
	return ki_d_hook_event(h, &attr, 0, -1);
}

/* ---- clocks ---- */

/* Bytes from the beginning of the kernel's event to what it carries for us; -1: not known. */
static int64_t carried_offset(struct ki_dlang *d)
{
	struct ki_d_type event;
	uint64_t bit;

	if (ki_d_type_written(d, "struct perf_event *", &event))
		return -1;
	event.stars--;
	if (!ki_d_member_find(&d->types, event, "attr", &bit))
		return -1;
	return (int64_t)(bit / 8 + offsetof(struct perf_event_attr, config1));
}

static int find_profile(struct ki_dlang *d, struct ki_d_probe *p)
{
	const uint64_t carried = (uint64_t)d->run->thread << 32 | (uint32_t)(p - d->probes.v + 1);
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
				       .size = sizeof(attr),
				       .config = PERF_COUNT_SW_CPU_CLOCK,
				       .disabled = 1,
				       .sample_period = p->nanoseconds,
				       .config1 = carried};
	const int64_t offset = carried_offset(d);
	const long cpus = sysconf(_SC_NPROCESSORS_CONF);
	int ret = 0;

	p->sym = ki_target_symbol_named(d->run->t, "", PROFILE_FUNCTION, NULL);
	if (p->provider->find == ki_d_find_cpc && !ki_d_cpc_event(p->name, &attr))
		return -ENOENT;
	if (!p->sym || offset < 0)
		return -ENOENT;
	p->hook->guard[0] = (struct ki_d_guarded){
		.kind = KI_D_FIELD_IS, .offset = (uint32_t)offset, .value = carried};
	for (int cpu = 0; cpu < cpus; cpu++) {
		ret = ki_d_hook_event(p->hook, &attr, -1, cpu);
		if (ret && ret != -ENODEV) /* it is off */
			return ret;
	}
	return p->hook->nfds ? 0 : ret;
}

int ki_d_hook_find(struct ki_dlang *d, struct ki_d_probe *p, unsigned int *reason,
		   struct ki_err *err)
{
	int ret = 0;

	*reason = KI_R_OK;
	if (p->hook && p->hook->kind == KI_D_HOOK_TRACEPOINT)
		ret = find_tracepoint(d, p);
	else if (p->hook && p->hook->kind == KI_D_HOOK_PROFILE)
		ret = find_profile(d, p);
	else if (p->hook && p->hook->kind == KI_D_HOOK_USER)
		ret = ki_d_user_open(d, p);
	if (ret == -ENOMEM)
		return ki_d_no_memory(err);
	if (ret)
		*reason = ret == -ENOENT ? KI_R_NO_SYMBOL : KI_R_NO_PERMISSION;
	return 0;
}
