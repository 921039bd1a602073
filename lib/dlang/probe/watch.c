// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include "dlang/probe/watch.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE 4096u
#define DATA (16 * PAGE) /* of a CPU */

struct cpu {
	int fd;
	struct perf_event_mmap_page *page; /* and behind it the data */
};

struct ki_d_watch {
	int poll;
	ki_vec(struct cpu) cpus;
};

/* What is told, as far as it is of interest here. */
struct told {
	struct perf_event_header h;
	union {
		struct {
			uint32_t pid, tid;
			uint64_t addr, len;
		} map; /* PERF_RECORD_MMAP */
		struct {
			uint32_t pid, tid;
		} comm; /* PERF_RECORD_COMM */
		struct {
			uint32_t pid, parent;
		} task; /* PERF_RECORD_FORK, PERF_RECORD_EXIT */
	};
};

/* ---- the events ---- */

static int add_cpu(struct ki_d_watch *w, int number)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
				       .size = sizeof(attr),
				       .config = PERF_COUNT_SW_DUMMY,
				       .wakeup_events = 1,
				       .mmap = 1,
				       .comm = 1,
				       .comm_exec = 1,
				       .task = 1};
	struct cpu c = {.fd = (int)syscall(SYS_perf_event_open, &attr, -1, number, -1,
					   PERF_FLAG_FD_CLOEXEC)};
	struct epoll_event e = {.events = EPOLLIN};

	if (c.fd < 0)
		return errno == ENODEV ? 0 : -errno; /* a CPU that is off */
	c.page = mmap(NULL, PAGE + DATA, PROT_READ | PROT_WRITE, MAP_SHARED, c.fd, 0);
	if (c.page == MAP_FAILED || epoll_ctl(w->poll, EPOLL_CTL_ADD, c.fd, &e) ||
	    ki_vec_push(&w->cpus, c)) {
		const int ret = errno ? -errno : -ENOMEM;

		if (c.page != MAP_FAILED)
			munmap(c.page, PAGE + DATA);
		close(c.fd);
		return ret;
	}
	return 0;
}

int ki_d_watch_new(struct ki_d_watch **out)
{
	struct ki_d_watch *w = calloc(1, sizeof(*w));
	const int n = (int)sysconf(_SC_NPROCESSORS_CONF);
	int ret = 0;

	*out = NULL;
	if (!w)
		return -ENOMEM;
	w->poll = epoll_create1(EPOLL_CLOEXEC);
	if (w->poll < 0)
		ret = -errno;
	for (int i = 0; !ret && i < n; i++)
		ret = add_cpu(w, i);
	if (ret)
		ki_d_watch_free(w);
	else
		*out = w;
	return ret;
}

void ki_d_watch_free(struct ki_d_watch *w)
{
	if (!w)
		return;
	for (size_t i = 0; i < w->cpus.n; i++) {
		munmap(w->cpus.v[i].page, PAGE + DATA);
		close(w->cpus.v[i].fd);
	}
	ki_vec_free(&w->cpus);
	if (w->poll >= 0)
		close(w->poll);
	free(w);
}

int ki_d_watch_fd(const struct ki_d_watch *w)
{
	return w->poll;
}

/* ---- what they tell ---- */

struct ki_d_stir *ki_d_stir_of(struct ki_d_stirs *s, pid_t pid)
{
	for (size_t i = 0; i < s->v.n; i++)
		if (s->v.v[i].pid == pid)
			return &s->v.v[i];
	if (ki_vec_push(&s->v, (struct ki_d_stir){.pid = pid}))
		return NULL;
	return &s->v.v[s->v.n - 1];
}

void ki_d_stirs_free(struct ki_d_stirs *s)
{
	for (size_t i = 0; i < s->v.n; i++)
		ki_vec_free(&s->v.v[i].mapped);
	ki_vec_free(&s->v);
}

static int take_mapped(const struct told *t, struct ki_d_stirs *out)
{
	struct ki_d_stir *s = ki_d_stir_of(out, (pid_t)t->map.pid);

	return s ? ki_vec_push(&s->mapped,
			       (struct ki_d_range){t->map.addr, t->map.addr + t->map.len})
		 : -ENOMEM;
}

/* A thread is no process. Its first thread's end is one's end, or nearly. */
static int take_task(const struct told *t, bool forked, struct ki_d_stirs *out)
{
	const bool is_thread = t->task.pid == t->task.parent;
	struct ki_d_stir *s;

	if (forked && is_thread)
		return 0;
	s = ki_d_stir_of(out, (pid_t)t->task.pid);
	if (!s)
		return -ENOMEM;
	if (forked)
		s->parent = (pid_t)t->task.parent;
	s->all |= forked;
	s->became |= forked;
	return 0;
}

static int take(const struct told *t, struct ki_d_stirs *out)
{
	struct ki_d_stir *s;

	switch (t->h.type) {
	case PERF_RECORD_MMAP:
		return take_mapped(t, out);
	case PERF_RECORD_COMM:
		if (!(t->h.misc & PERF_RECORD_MISC_COMM_EXEC))
			return 0;
		s = ki_d_stir_of(out, (pid_t)t->comm.pid);
		if (s)
			s->became = s->all = true;
		return s ? 0 : -ENOMEM;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		return take_task(t, t->h.type == PERF_RECORD_FORK, out);
	case PERF_RECORD_LOST:
		out->lost = true;
		return 0;
	default:
		return 0;
	}
}

static void copy(const struct cpu *c, uint64_t at, void *to, size_t len)
{
	const uint8_t *data = (const uint8_t *)c->page + PAGE;

	for (size_t i = 0; i < len; i++)
		((uint8_t *)to)[i] = data[(at + i) % DATA];
}

static int read_cpu(struct cpu *c, struct ki_d_stirs *out)
{
	const uint64_t head = __atomic_load_n(&c->page->data_head, __ATOMIC_ACQUIRE);
	uint64_t at = c->page->data_tail;
	int ret = 0;

	while (!ret && at < head) {
		struct told t = {0};

		copy(c, at, &t.h, sizeof(t.h));
		if (t.h.size < sizeof(t.h))
			break;
		copy(c, at, &t, t.h.size < sizeof(t) ? t.h.size : sizeof(t));
		at += t.h.size;
		ret = take(&t, out);
	}
	__atomic_store_n(&c->page->data_tail, at, __ATOMIC_RELEASE);
	return ret;
}

int ki_d_watch_read(struct ki_d_watch *w, struct ki_d_stirs *out)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < w->cpus.n; i++)
		ret = read_cpu(&w->cpus.v[i], out);
	return ret;
}
