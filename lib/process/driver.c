/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The driver's way into a process. What is linked here is the same; it is the driver that maps
 * memory, and writes text while the threads go on. The descriptor is what it belongs to, so there
 * is no guard.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "process/ways.h"
#include "target/process.h"

static int call(int fd, unsigned long request, void *arg)
{
	int ret;

	do
		ret = ioctl(fd, request, arg) ? -errno : 0;
	while (ret == -EINTR);
	return ret;
}

int ki_driver_open(pid_t pid, bool *apart)
{
	struct ki_process_open req = {.size = sizeof(req), .pid = pid};
	int fd = open(KI_DEVICE, O_RDWR | O_CLOEXEC);

	if (fd >= 0 && !call(fd, KI_IOC_PROCESS, &req)) {
		*apart = req.apart;
		return fd;
	}
	if (fd >= 0)
		close(fd);
	return -1;
}

bool ki_process_by_driver(struct ki_target *t)
{
	struct ki_process *p = t->own;

	if (ki_target_kind(t) != KI_TARGET_PROCESS)
		return false;
	if (p->device < 0)
		p->device = ki_driver_open(p->pid, &p->apart);
	return p->device >= 0;
}

static int refused(const struct ki_splice_process *s, int ret, uint32_t reason, uint64_t addr,
		   struct ki_err *err)
{
	if (reason)
		return ki_err_reason(err, reason, addr, addr ? "process %d, 0x%llx" : "process %d",
				     s->g.pid, (unsigned long long)addr);
	return ki_err_set(err, ret, addr, "process %d: %s", s->g.pid, strerror(-ret));
}

static int check(struct ki_splice_process *s, const struct ki_mappings *maps, struct ki_err *err)
{
	(void)maps;
	if (s->device < 0)
		s->device = ki_driver_open(s->g.pid, &s->process->apart);
	return s->device < 0 ? ki_err_reason(err, KI_R_PROCESS_GONE, 0, "process %d", s->g.pid) : 0;
}

static uint8_t *map_here(const struct ki_splice_process *s, size_t len, int prot,
			 struct ki_err *err)
{
	void *map = mmap(NULL, len, prot, MAP_SHARED, s->device, KI_MAP_PROCESS);

	if (map != MAP_FAILED)
		return map;
	ki_err_set(err, -errno, 0, "the process's memory cannot be mapped: %s", strerror(errno));
	return NULL;
}

/* Memory, with the patches in it; the counters stay mapped. */
static int make_memory(struct ki_splice_process *s, struct ki_err *err)
{
	const struct ki_linked *x = &s->linked;
	const struct ki_arena *last = &x->arenas.v[x->arenas.n - 1];
	struct ki_process_memory req = {.size = sizeof(req), .bytes = last->off + last->len};
	int ret;
	uint8_t *all;

	if (req.bytes > KI_PROCESS_BYTES)
		return ki_err_set(err, -ENOMEM, 0, "process %d: too many counters and patches",
				  s->g.pid);
	ret = call(s->device, KI_IOC_PROCESS_MEMORY, &req);
	if (ret)
		return refused(s, ret, req.reason, 0, err);
	all = map_here(s, req.bytes, PROT_READ | PROT_WRITE, err);
	if (!all)
		return -EIO;
	for (size_t i = 0; i < x->arenas.n; i++)
		memcpy(all + x->arenas.v[i].off, x->arenas.v[i].code, x->arenas.v[i].len);
	munmap(all, req.bytes);
	s->values = (uint64_t *)map_here(s, x->counters_len, PROT_READ, err);
	s->len = x->counters_len;
	return s->values ? 0 : -EIO;
}

static int map_there(const struct ki_splice_process *s, struct ki_process_map req,
		     struct ki_err *err)
{
	int ret;

	req.size = sizeof(req);
	ret = call(s->device, KI_IOC_PROCESS_MAP, &req);
	return ret ? refused(s, ret, req.reason, req.addr, err) : 0;
}

static int map_arena(const struct ki_splice_process *s, const struct ki_arena *a,
		     struct ki_err *err)
{
	size_t counters = s->linked.counters_len;
	const struct ki_process_map code = {.flags = KI_PROCESS_CODE,
					    .addr = a->base + counters,
					    .len = a->len,
					    .offset = a->off},
				    rows = {.flags = KI_PROCESS_OWN,
					    .addr = code.addr + a->len,
					    .len = a->rows};
	int ret = map_there(s, (struct ki_process_map){.addr = a->base, .len = counters}, err);

	if (!ret)
		ret = map_there(s, code, err);
	return ret || !a->rows ? ret : map_there(s, rows, err);
}

/* Threads have words from now on. */
static int open_gate(const struct ki_splice_process *s, struct ki_err *err)
{
	uint64_t *words;

	if (!s->linked.words)
		return 0;
	words = (uint64_t *)map_here(s, s->len, PROT_READ | PROT_WRITE, err);
	if (!words)
		return -EIO;
	__atomic_store_n(&words[ki_linked_word(&s->linked, KI_WORD_GATE)], KI_GATE_OPEN,
			 __ATOMIC_RELEASE);
	munmap(words, s->len);
	return 0;
}

static int write_text(const struct ki_splice_process *s, struct ki_err *err)
{
	const struct ki_linked *x = &s->linked;
	struct ki_process_edit *v = calloc(x->edits.n, sizeof(*v));
	struct ki_process_edits req = {
		.size = sizeof(req), .count = (uint32_t)x->edits.n, .edits = (uintptr_t)v};
	int ret;

	if (!v)
		return ki_err_set(err, -ENOMEM, 0, "out of memory for the text");
	for (size_t i = 0; i < x->edits.n; i++) {
		const struct ki_edit *e = &x->edits.v[i];

		v[i] = (struct ki_process_edit){
			.addr = e->addr, .via = e->via, .len = e->len, .flags = e->flags};
		memcpy(v[i].orig, e->orig, e->len);
		memcpy(v[i].now, e->now, e->len);
	}
	ret = call(s->device, KI_IOC_PROCESS_EDIT, &req);
	if (ret)
		refused(s, ret, req.reason, req.bad < x->edits.n ? v[req.bad].addr : 0, err);
	free(v);
	return ret;
}

static int install(struct ki_splice_process *s, struct ki_err *err)
{
	int ret = make_memory(s, err);

	for (size_t i = 0; !ret && i < s->linked.arenas.n; i++)
		ret = map_arena(s, &s->linked.arenas.v[i], err);
	/* The driver compares what it changes; the copies are of whole windows. */
	if (!ret)
		ret = ki_text_check(&s->linked, s->g.mem, NULL, err);
	if (!ret)
		ret = write_text(s, err);
	if (!ret)
		ret = open_gate(s, err);
	s->cost.by_driver = !ret;
	return ret;
}

int ki_driver_release(const struct ki_splice_process *s, const uint32_t *v, size_t n,
		      struct ki_err *err)
{
	struct ki_process_release req = {
		.size = sizeof(req), .count = (uint32_t)n, .numbers = (uintptr_t)v};
	const int ret = n ? call(s->device, KI_IOC_PROCESS_RELEASE, &req) : 0;

	return ret ? refused(s, ret, req.reason, 0, err) : 0;
}

static int release(struct ki_splice_process *s, struct ki_err *err)
{
	struct ki_linked *x = &s->linked;
	uint32_t *v = calloc(x->edits.n + 1, sizeof(*v));
	size_t n = 0;
	int ret;

	if (!v)
		return ki_err_set(err, -ENOMEM, 0, "out of memory for the text");
	for (uint32_t i = 0; i < x->edits.n; i++)
		if (x->released[i] == KI_TO_RELEASE)
			v[n++] = i;
	ret = ki_driver_release(s, v, n, err);
	for (size_t i = 0; !ret && i < n; i++)
		x->released[v[i]] = KI_RELEASED;
	free(v);
	return ret;
}

/* Closed, it gives back all. */
static int give_back(struct ki_splice_process *s, struct ki_err *err)
{
	(void)err;
	if (s->device >= 0)
		close(s->device);
	s->device = -1;
	return 0;
}

const struct ki_process_way ki_process_way_of_driver = {check, install, give_back, release};
