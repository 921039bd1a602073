// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * What has been taken out and could not be given back yet. The driver tells one thing at a time.
 */
#include <inttypes.h>
#include <stdio.h>
#include <sys/ioctl.h>

#include "kerninst/overview.h"
#include "out/json.h"

#define NAME_LEN 160

static const char *const kinds[KI_HELD_KINDS] = {
	[KI_HELD_WINDOWS] = "windows", [KI_HELD_MUTED] = "muted",
	[KI_HELD_PATCH] = "patch",     [KI_HELD_TRAMPOLINE] = "return trampoline",
	[KI_HELD_PROCESS] = "process",
};

static bool next(const struct ki_target *t, uint64_t index, struct ki_held *h)
{
	*h = (struct ki_held){.size = sizeof(*h), .index = index};
	return !ioctl(ki_target_fd(t), KI_IOC_HELD, h) && h->kind < KI_HELD_KINDS;
}

/* FUNCTION+0xOFFSET, or "" for no address, or the address. */
static const char *name(const struct ki_target *t, uint64_t addr, char out[NAME_LEN])
{
	const struct ki_symbol *sym = addr ? ki_target_symbol_at(t, addr) : NULL;

	if (sym)
		snprintf(out, NAME_LEN, "%s%s%s+0x%" PRIx64, sym->module, *sym->module ? ":" : "",
			 sym->name, addr - sym->addr);
	else if (addr)
		snprintf(out, NAME_LEN, "0x%" PRIx64, addr);
	else
		*out = 0;
	return out;
}

static void print_holder(const struct ki_target *t, const struct ki_held *h, FILE *out)
{
	char by[NAME_LEN];

	if (h->holder)
		fprintf(out, ", by a kprobe that calls %s", name(t, h->holder, by));
	else if (h->pid)
		fprintf(out, ", by %.*s, task %u", KI_COMM_LEN, h->comm, h->pid);
	fprintf(out, " [%s]\n", ki_reason_tag(h->reason));
}

void ki_held_print(const struct ki_target *t, FILE *out)
{
	struct ki_held h;
	char at[NAME_LEN];

	for (uint64_t i = 0; next(t, i, &h); i++) {
		name(t, h.addr, at);
		if (h.kind == KI_HELD_WINDOWS)
			fprintf(out, "held          %u windows, the first at %s", h.count, at);
		else if (h.kind == KI_HELD_MUTED)
			fprintf(out, "held          %u chunks that are jumped over, at %s", h.count,
				at);
		else if (h.kind == KI_HELD_PROCESS)
			fprintf(out,
				"held          %u places of a process, the first at 0x%" PRIx64,
				h.count, (uint64_t)h.addr);
		else
			fprintf(out, "held          a %s at 0x%" PRIx64, kinds[h.kind],
				(uint64_t)h.addr);
		if (h.kind == KI_HELD_PATCH)
			fprintf(out, ", %" PRIu64 " bytes", (uint64_t)h.bytes);
		print_holder(t, &h, out);
	}
}

void ki_held_json(struct ki_json *j, const struct ki_target *t)
{
	struct ki_held h;
	char buf[NAME_LEN];

	ki_json_open(j, "held", '[');
	for (uint64_t i = 0; next(t, i, &h); i++) {
		snprintf(buf, sizeof(buf), "%.*s", KI_COMM_LEN, h.comm);
		ki_json_open(j, NULL, '{');
		ki_json_str(j, "what", kinds[h.kind]);
		ki_json_u64(j, "count", h.count);
		ki_json_hex(j, "address", h.addr);
		ki_json_u64(j, "heap_bytes", h.bytes);
		ki_json_str(j, "reason", ki_reason_tag(h.reason));
		ki_json_u64(j, "pid", h.pid);
		ki_json_str(j, "task", h.pid ? buf : NULL);
		ki_json_str(j, "at", h.kind == KI_HELD_PROCESS ? "" : name(t, h.addr, buf));
		ki_json_str(j, "kprobe_calls", h.holder ? name(t, h.holder, buf) : NULL);
		ki_json_close(j);
	}
	ki_json_close(j);
}
