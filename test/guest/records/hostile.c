// SPDX-License-Identifier: GPL-2.0-only
/*
 * What must not be: requests and mappings that are refused; tails that lie while records are
 * written.
 */
#include "records.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

static int ring_errno(int fd, struct ki_ring req)
{
	req.size = sizeof(req);
	return ioctl(fd, KI_IOC_RING, &req) ? errno : 0;
}

static void test_requests(void)
{
	static const struct {
		struct ki_ring req;
		int want;
	} cases[] = {
		{{.pages = 0}, EINVAL},
		{{.pages = 3}, EINVAL},
		{{.pages = 2 * KI_RING_PAGES}, EINVAL},
		{{.pages = 0x80000000}, EINVAL},
		{{.pages = 1, .flags = 2}, EINVAL},
		{{.pages = 1, .wake = 4097}, EINVAL},
		{{.pages = 1, .wake = UINT32_MAX}, EINVAL},
		{{.pages = 1, .zero = 1}, EINVAL},
		{{.pages = 1, .reason = 1}, EINVAL},
		{{.pages = 1, .wake = 4096}, 0},
		{{.pages = 1}, EEXIST},
	};
	int fd = device_open(), wrong = 0;
	struct pollfd p = {.fd = fd, .events = POLLIN};

	wrong += poll(&p, 1, 0) != 1 || p.revents != POLLERR;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		wrong += ring_errno(fd, cases[i].req) != cases[i].want;
	wrong += poll(&p, 1, 0) != 0;
	report("requests", !wrong, "%d answers are wrong", wrong);
	close(fd);
}

static bool maps(int fd, size_t len, int prot, int flags, uint64_t at)
{
	return !map_errno(fd, len, prot, flags, at);
}

/* Heads and data can never be written, nothing can be executed, lengths are exact. */
static void test_mappings(void)
{
	const int rw = PROT_READ | PROT_WRITE, r = PROT_READ, x = PROT_READ | PROT_EXEC;
	struct ki_ring req = {.size = sizeof(req), .pages = 2};
	int fd = device_open(), wrong = 0;
	size_t len;
	void *p;

	wrong += maps(fd, 4 * PAGE, r, MAP_SHARED, KI_MAP_RING);
	wrong += maps(fd, PAGE, rw, MAP_SHARED, KI_MAP_RING_TAILS);
	if (ioctl(fd, KI_IOC_RING, &req))
		die("ring", strerror(errno));
	len = req.cpus * req.stride;
	wrong += req.stride != 3 * PAGE;
	wrong += !maps(fd, len, r, MAP_SHARED, KI_MAP_RING);
	wrong += !maps(fd, PAGE, rw, MAP_SHARED, KI_MAP_RING_TAILS);
	wrong += maps(fd, len, rw, MAP_SHARED, KI_MAP_RING);
	wrong += maps(fd, len, rw, MAP_PRIVATE, KI_MAP_RING);
	wrong += maps(fd, len, x, MAP_SHARED, KI_MAP_RING);
	wrong += maps(fd, len + PAGE, r, MAP_SHARED, KI_MAP_RING);
	wrong += maps(fd, len - PAGE, r, MAP_SHARED, KI_MAP_RING);
	wrong += maps(fd, len, r, MAP_SHARED, KI_MAP_RING + PAGE);
	wrong += maps(fd, PAGE, rw, MAP_PRIVATE, KI_MAP_RING_TAILS);
	wrong += maps(fd, PAGE, rw | PROT_EXEC, MAP_SHARED, KI_MAP_RING_TAILS);
	wrong += maps(fd, 2 * PAGE, rw, MAP_SHARED, KI_MAP_RING_TAILS);
	wrong += maps(fd, PAGE, rw, MAP_SHARED, KI_MAP_RING_TAILS + PAGE);
	p = mmap(NULL, len, r, MAP_SHARED, fd, KI_MAP_RING);
	wrong += p == MAP_FAILED || !mprotect(p, len, rw) || !mprotect(p, len, x);
	wrong += mremap(p, len, 2 * len, MREMAP_MAYMOVE) != MAP_FAILED;
	munmap(p, len);
	report("mappings", !wrong, "%d answers are wrong", wrong);
	close(fd);
}

/* More memory than all rings may take: refused, and nothing is left of it. */
static void test_memory(void)
{
	int fd[200], n = 0, err = 0;
	struct ki_err kerr = {0};
	struct ki_target *t;
	uint32_t left;

	if (ki_target_new_live(&t, &kerr))
		die("open", kerr.msg);
	soon_rings(t, 0); /* of what was closed before */
	while (n < 200 && !err) {
		fd[n] = device_open();
		err = ring_errno(fd[n++], (struct ki_ring){.pages = KI_RING_PAGES});
	}
	report("too much memory", err == ENOMEM && n > 1 && rings(t) == (uint32_t)n - 1,
	       "%d rings, then errno %d", n - 1, err);
	while (n--)
		close(fd[n]);
	left = soon_rings(t, 0);
	report("which is given back", !left, "%u rings are left", left);
	ki_target_free(t);
}

struct liar {
	volatile uint64_t *tails;
	const uint8_t *heads; /* 2 pages apart */
	unsigned int cpus;
	volatile bool over;
	volatile uint64_t lies;
};

/* Far off, or so near that it might be true. */
static void *lie(void *arg)
{
	struct liar *l = arg;
	uint64_t n = 1;

	for (; !l->over; l->lies++)
		for (unsigned int i = 0; i < l->cpus; i++) {
			const volatile struct ki_ring_head *h =
				(const void *)(l->heads + i * 2 * PAGE);
			uint64_t near;

			n = n * 6364136223846793005ull + 1442695040888963407ull;
			near = h->head + (n >> 33) % 16384 - 8192;
			const uint64_t lies[] = {0,    UINT64_MAX, near,       near & ~7ull,
						 near, 0 - near,   near << 32, UINT64_MAX / 2};

			l->tails[i] = lies[n >> 61];
		}
	return NULL;
}

/*
 * Whatever the tails say: each call is written or lost. The pages around the ring's are other
 * rings' heads, which must stay as they are.
 */
static void test_tails(void)
{
	const struct ki_ring_options o = {.size = sizeof(o), .bytes = 4096, .wake = 64};
	const unsigned int cpus = cpu_count();
	static struct session s, other;
	static struct crowd crowd;
	struct liar l = {.cpus = cpus};
	pthread_t thread;
	uint64_t sum, all = 0;

	session_open(&s, &o, NULL);
	if (ki_target_new_live(&other.t, NULL) || ki_ring_map_new(other.t, &o, &other.ring, NULL))
		die("open", "another session");
	l.tails = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, ki_target_fd(s.t),
		       KI_MAP_RING_TAILS);
	if (l.tails == MAP_FAILED)
		die("tails", strerror(errno));
	l.heads =
		mmap(NULL, cpus * 2 * PAGE, PROT_READ, MAP_SHARED, ki_target_fd(s.t), KI_MAP_RING);
	if (l.heads == MAP_FAILED)
		die("heads", strerror(errno));
	pthread_create(&thread, NULL, lie, &l);
	while (l.lies <= 100)
		usleep(1000);
	do {
		crowd_begin(&crowd, cpus, 20000, true);
		crowd_end(&crowd);
		all += cpus * 20000;
	} while (ki_ring_records(s.ring) <= cpus * (4096 / BYTES) && all < cpus * 1000000);
	l.over = true;
	pthread_join(thread, NULL);
	sum = ki_ring_records(s.ring) + ki_ring_lost(s.ring);
	report("tails that lie",
	       sum == all && l.lies > 100 && ki_ring_records(s.ring) > cpus * (4096 / BYTES) &&
		       ki_ring_lost(s.ring) && !ki_ring_records(other.ring) &&
		       !ki_ring_lost(other.ring),
	       "%llu written and %llu lost of %llu, with %llu lies", (ull)ki_ring_records(s.ring),
	       (ull)ki_ring_lost(s.ring), (ull)all, (ull)l.lies);
	munmap((void *)(uintptr_t)l.tails, PAGE);
	munmap((void *)(uintptr_t)l.heads, cpus * 2 * PAGE);
	ki_ring_map_free(other.ring);
	ki_target_free(other.t);
	session_close(&s);
}

void test_hostile(void)
{
	test_requests();
	test_mappings();
	test_memory();
	test_tails();
}
