// SPDX-License-Identifier: GPL-2.0-only
/*
 * Valid windows of real functions, and valid requests made of them.
 *
 * The functions are harmless and busy. Of their windows those are taken where the flags are dead
 * at every slot: then whatever a mutated but accepted request puts there does no harm.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "kerninst/splice.h"
#include "fuzz.h"

#define TEMPLATES_MAX 64
#define NEVER_RUN     "__do_sys_reboot"

static const char *const function_names[] = {
	"__x64_sys_getppid", "__x64_sys_getuid", "__x64_sys_getgid", NEVER_RUN,
	"__x64_sys_umask",   "vfs_read",	 "rw_verify_area",   "do_sys_openat2",
};

struct template *templates;
unsigned int ntemplates, nquick;
const struct template *getppid_entry;

struct text texts[FUNCTION_MAX];
unsigned int ntexts;
static uint64_t never_start, never_end;

static void die(const char *what, const struct ki_err *err)
{
	fprintf(stderr, "ioctl_fuzz: %s: %s\n", what, err && err->msg[0] ? err->msg : "failed");
	exit(1);
}

static bool flags_dead(const struct ki_function *fn, const struct ki_span *sp)
{
	uint32_t i;

	for (i = 0; i < sp->count; i++)
		if (fn->insns[sp->first + i].flags & KI_INSN_FLAGS_LIVE)
			return false;
	return true;
}

static bool template_fill(struct template *t, const struct ki_function *fn,
			  const struct ki_span *sp)
{
	uint32_t i;

	memset(t, 0, sizeof(*t));
	t->window.addr = sp->addr;
	t->window.len = sp->len;
	t->window.ncopy = sp->count;
	t->window.board = sp->len < 5 ? KI_BOARD_TRAP : KI_BOARD_JMP;
	if (sp->len > KI_WINDOW_MAX || sp->count > TEMPLATE_COPIES)
		return false;
	memcpy(t->window.orig, fn->bytes + (sp->addr - fn->start), sp->len);
	for (i = 0; i < sp->count; i++) {
		const struct ki_insn *in = &fn->insns[sp->first + i];

		if (ki_relocate(in, fn->bytes + (in->addr - fn->start), &t->copies[i]))
			return false;
		if (i && in->addr - sp->addr < 5 && sp->len >= 5)
			t->waits = true;
	}
	return true;
}

/* What the driver itself thinks of it. */
static bool template_accepted(int fd, struct template *t, uint32_t counter)
{
	struct ki_window window = t->window;
	struct ki_chunk chunk = {0};
	struct ki_code code;
	struct ki_splice req = {
		.size = sizeof(req),
		.flags = KI_SPLICE_DRY_RUN,
		.windows = (uintptr_t)&window,
		.copies = (uintptr_t)t->copies,
		.chunks = (uintptr_t)&chunk,
		.nwindows = 1,
		.ncopies = t->window.ncopy,
		.nchunks = 1,
	};

	ki_snippet_count(&code, counter, false);
	chunk.len = code.len;
	chunk.nfix = code.nfix;
	memcpy(chunk.fix, code.fix, sizeof(chunk.fix));
	memcpy(chunk.code, code.code, sizeof(chunk.code));
	return !ioctl(fd, KI_IOC_SPLICE, &req);
}

static void remember_text(struct ki_target *t, const struct ki_function *fn)
{
	struct text *x = &texts[ntexts++];
	char cold[128];

	snprintf(cold, sizeof(cold), "%s.cold", fn->symbol->name);
	x->cold = ki_target_symbol_named(t, "", cold, NULL);
	x->addr = fn->start;
	x->len = fn->end - fn->start < TEXT_BYTES ? fn->end - fn->start : TEXT_BYTES;
	memcpy(x->bytes, fn->bytes, x->len);
}

/* Up to `max`. */
static void take_windows(int fd, const struct ki_function *fn, const struct ki_spans *spans,
			 uint32_t counter, unsigned int max, bool entry)
{
	unsigned int end = ntemplates + max;
	size_t i;

	for (i = 0; i < spans->n && ntemplates < end; i++) {
		struct template *t = &templates[ntemplates];

		if (spans->v[i].board != KI_BOARD_JMP || !flags_dead(fn, &spans->v[i]) ||
		    !template_fill(t, fn, &spans->v[i]) || !template_accepted(fd, t, counter))
			continue;
		if (entry && !getppid_entry)
			getppid_entry = t;
		nquick += !t->waits;
		ntemplates++;
	}
}

static void take_function(struct ki_target *t, const char *name, uint32_t counter, unsigned int max,
			  bool entry)
{
	const struct ki_symbol *sym = ki_target_symbol_named(t, "", name, NULL);
	struct ki_function *fn;
	struct ki_spans spans;
	struct ki_err err = {0};

	if (!sym) {
		printf("ioctl_fuzz: no function %s here\n", name);
		return;
	}
	if (ki_function_analyze(t, sym, &fn, &err) || ki_spans_find(fn, &spans, &err))
		die(name, &err);
	if (!fn->reason) {
		remember_text(t, fn);
		if (!strcmp(name, NEVER_RUN)) {
			never_start = fn->start;
			never_end = fn->end;
		}
		take_windows(ki_target_fd(t), fn, &spans, counter, max, entry);
	}
	ki_spans_free(&spans);
	ki_function_free(fn);
}

static int by_address(const void *a, const void *b)
{
	const struct template *x = a, *y = b;

	return x->window.addr < y->window.addr ? -1 : x->window.addr > y->window.addr;
}

void corpus_make(void)
{
	struct ki_target *t;
	struct ki_err err = {0};
	uint64_t entry;
	uint32_t counter;
	const unsigned int nfunctions = sizeof(function_names) / sizeof(*function_names);
	unsigned int i;

	templates = calloc(TEMPLATES_MAX, sizeof(*templates));
	if (!templates)
		die("out of memory", NULL);
	if (ki_target_new_live(&t, &err) || ki_counters_take(t, 1, &counter, &err))
		die("opening the kernel", &err);
	for (i = 0; i < nfunctions; i++)
		take_function(t, function_names[i], counter,
			      (TEMPLATES_MAX - ntemplates) / (nfunctions - i), i == 0);
	ki_target_free(t);
	if (!never_end || !getppid_entry || ntemplates < FUNCTION_MAX || nquick < 2)
		die("too few windows to begin with", NULL);
	entry = getppid_entry->window.addr;
	qsort(templates, ntemplates, sizeof(*templates), by_address);
	for (i = 0; i < ntemplates; i++)
		if (templates[i].window.addr == entry)
			getppid_entry = &templates[i];
}

const struct template *corpus_never_run(struct rng *r)
{
	unsigned int first = 0, n = 0;

	while (templates[first].window.addr < never_start)
		first++;
	while (first + n < ntemplates && templates[first + n].window.addr < never_end)
		n++;
	return &templates[first + rng_below(r, n)];
}

bool corpus_text_intact(void)
{
	int fd = device_open();
	bool good = true;
	unsigned int i;

	for (i = 0; i < ntexts; i++) {
		uint8_t now[TEXT_BYTES];
		struct ki_read req = {
			.size = sizeof(req),
			.view = KI_VIEW_LIVE,
			.addr = texts[i].addr,
			.len = texts[i].len,
			.buf = (uintptr_t)now,
		};

		if (ioctl(fd, KI_IOC_READ, &req) || memcmp(now, texts[i].bytes, texts[i].len))
			good = false;
	}
	close(fd);
	return good;
}

/* ---- valid requests ---- */

void *request_piece(struct request *q, struct arena *a, size_t len)
{
	void *at = arena_take(a, len);

	q->piece[q->npieces].at = at;
	q->piece[q->npieces++].len = len;
	return at;
}

static void make_info(struct request *q, const struct session *s, struct arena *a, struct rng *r)
{
	struct ki_info *req = request_piece(q, a, sizeof(*req));

	(void)s;
	(void)r;
	q->cmd = KI_IOC_INFO;
	req->size = sizeof(*req);
}

static void make_read(struct request *q, const struct session *s, struct arena *a, struct rng *r)
{
	struct ki_read *req = request_piece(q, a, sizeof(*req));
	size_t len = 1 + rng_below(r, rng_one_in(r, 8) ? 100000 : 300);

	(void)s;
	q->cmd = KI_IOC_READ;
	req->size = sizeof(*req);
	req->view = rng_below(r, 2);
	req->addr = templates[rng_below(r, ntemplates)].window.addr + rng_below(r, 64) - 32;
	req->len = len;
	req->buf = (uintptr_t)request_piece(q, a, len);
}

static void make_reserved(struct request *q, const struct session *s, struct arena *a,
			  struct rng *r)
{
	struct ki_reserved *req = request_piece(q, a, sizeof(*req));
	uint32_t max = rng_below(r, 2000);

	(void)s;
	q->cmd = KI_IOC_RESERVED;
	req->size = sizeof(*req);
	req->start = templates[rng_below(r, ntemplates)].window.addr - rng_below(r, 10000);
	req->end = req->start + rng_below(r, 100000);
	req->max = max;
	req->rows = (uintptr_t)request_piece(q, a, max * sizeof(struct ki_reserved_row));
}

static void make_unsplice(struct request *q, const struct session *s, struct arena *a,
			  struct rng *r)
{
	struct ki_unsplice *req = request_piece(q, a, sizeof(*req));
	uint32_t i, n = 1 + rng_below(r, 4);
	uint32_t *ids = request_piece(q, a, n * sizeof(*ids));

	q->cmd = KI_IOC_UNSPLICE;
	req->size = sizeof(*req);
	if (rng_one_in(r, 4)) {
		req->flags = KI_UNSPLICE_ALL;
		return;
	}
	req->ids = (uintptr_t)ids;
	req->count = n;
	for (i = 0; i < n; i++)
		ids[i] = s->ids[rng_below(r, IDS_KEPT)];
}

/* A window without its first instructions: it may be one, but overlaps the first. */
static void drop_first(struct template *t, struct rng *r)
{
	unsigned int n = rng_below(r, t->window.ncopy), bytes = 0, i;

	for (i = 0; i < n; i++)
		bytes += t->copies[i].orig_len;
	t->window.addr += bytes;
	t->window.len -= bytes;
	t->window.ncopy -= n;
	memmove(t->window.orig, t->window.orig + bytes, KI_WINDOW_MAX - bytes);
	memset(t->window.orig + KI_WINDOW_MAX - bytes, 0, bytes);
	memmove(t->copies, t->copies + n, (TEMPLATE_COPIES - n) * sizeof(*t->copies));
}

/* Bytes from anywhere in a function, cut into instructions anyhow. */
static void make_raw(struct template *t, struct rng *r)
{
	const struct text *x = &texts[rng_below(r, ntexts)];
	unsigned int off = rng_below(r, x->len - 5), at = 0, len;

	if (x->cold)
		return;
	memset(t, 0, sizeof(*t));
	t->raw = true;
	t->window.addr = x->addr + off;
	while (at < 5 || (at < KI_WINDOW_MAX && rng_one_in(r, 4))) {
		struct ki_copy *c = &t->copies[t->window.ncopy];

		len = 1 + rng_below(r, 8);
		if (at + len > KI_WINDOW_MAX || off + at + len > x->len ||
		    t->window.ncopy == TEMPLATE_COPIES)
			break;
		c->orig_len = c->len = len;
		memcpy(c->code, x->bytes + off + at, len);
		t->window.ncopy++;
		at += len;
	}
	memcpy(t->window.orig, x->bytes + off, at);
	t->window.len = at;
}

/* Up to max windows, in order of address, quick ones if so wished; or one that is no window. */
static unsigned int pick_windows(struct template *v, unsigned int max, bool quick, struct rng *r)
{
	unsigned int i, n = 0, left = 1 + rng_below(r, max);

	for (i = rng_below(r, ntemplates); i < ntemplates && left; i += 1 + rng_below(r, 4)) {
		if (quick && templates[i].waits)
			continue;
		v[n++] = templates[i];
		left--;
	}
	if (n == 1 && rng_one_in(r, 3))
		make_raw(v, r);
	else if (n && rng_one_in(r, 6))
		drop_first(&v[n - 1], r);
	return n;
}

static void fill_chunk(struct ki_chunk *c, uint32_t window, const struct template *t,
		       const struct session *s, struct rng *r)
{
	struct ki_code code;
	uint8_t where = rng_one_in(r, 4) ? rng_below(r, KI_WHERES) : KI_BEFORE;
	bool keep = t->raw || where != KI_BEFORE || rng_one_in(r, 3);

	c->where = where;
	c->order = rng_one_in(r, 4) ? rng_next(r) : 0;
	ki_snippet_count(&code, s->first_counter + rng_below(r, s->ncounters), keep);
	c->window = window;
	c->insn = t->window.ncopy ? rng_below(r, t->window.ncopy) : 0;
	if (where == KI_RETURNED && t->window.ncopy && !rng_one_in(r, 4))
		c->insn = t->window.ncopy - 1; /* a jump is the last */
	c->len = code.len;
	c->nfix = code.nfix;
	memcpy(c->fix, code.fix, sizeof(c->fix));
	memcpy(c->code, code.code, code.len);
}

#define SPLICE_WINDOWS 4

/* One harmless system call instead of another. Never in earnest: a mutation may change the target.
 */
static void make_replacement(struct ki_chunk *c, uint32_t window, struct rng *r)
{
	memset(c, 0, sizeof(*c));
	c->window = window;
	c->kind = KI_CHUNK_REPLACE;
	c->where = rng_one_in(r, 4) ? KI_TAKEN : KI_BEFORE;
	c->target = texts[rng_below(r, 3)].addr;
	if (rng_one_in(r, 3)) { /* of calls with one value */
		static const uint8_t compare[] = {0x48, 0x83, 0xff, 0x40}; /* cmp $64, %rdi */
		const size_t half = rng_one_in(r, 2);			   /* %edi */

		c->kind = KI_CHUNK_GUARDED;
		c->where = KI_BEFORE;
		c->len = (uint8_t)(sizeof(compare) - half);
		memcpy(c->code, compare + half, c->len);
	}
}

/* The windows and their copies, one after the other. */
static void fill_windows(struct ki_window *windows, struct ki_copy *copies,
			 const struct template *v, unsigned int n)
{
	unsigned int i, copy = 0;

	for (i = 0; i < n; i++) {
		windows[i] = v[i].window;
		windows[i].first_copy = copy;
		memcpy(&copies[copy], v[i].copies, v[i].window.ncopy * sizeof(*copies));
		copy += v[i].window.ncopy;
	}
}

/* Nothing is read back from the arena: another thread may be scribbling there. */
static void make_splice(struct request *q, const struct session *s, struct arena *a, struct rng *r)
{
	struct ki_splice *req = request_piece(q, a, sizeof(*req));
	struct template v[SPLICE_WINDOWS];
	bool dry = !rng_one_in(r, 8);
	unsigned int i, n, nchunks, ncopies = 0;
	struct ki_window *windows;
	struct ki_copy *copies;
	struct ki_chunk *chunks;

	n = pick_windows(v, SPLICE_WINDOWS, !dry && !rng_one_in(r, 64), r);
	nchunks = n ? n + rng_below(r, 3) : 0;
	for (i = 0; i < n; i++)
		ncopies += v[i].window.ncopy;
	windows = request_piece(q, a, n * sizeof(*windows));
	copies = request_piece(q, a, ncopies * sizeof(*copies));
	chunks = request_piece(q, a, nchunks * sizeof(*chunks));
	fill_windows(windows, copies, v, n);
	vary_windows(windows, n, dry, r);
	for (i = 0; i < nchunks; i++) {
		uint32_t w = rng_one_in(r, 8) ? 0 : i % n; /* the others: hosts, or in a group */

		fill_chunk(&chunks[i], w, &v[w], s, r);
		if (dry && rng_one_in(r, 16))
			make_replacement(&chunks[i], w, r);
	}
	q->cmd = KI_IOC_SPLICE;
	*req = (struct ki_splice){
		.size = sizeof(*req),
		.flags = dry ? KI_SPLICE_DRY_RUN : 0,
		.windows = (uintptr_t)windows,
		.copies = (uintptr_t)copies,
		.chunks = (uintptr_t)chunks,
		.nwindows = n,
		.ncopies = ncopies,
		.nchunks = nchunks,
	};
}

void request_make(struct request *q, enum op op, const struct session *s, struct arena *a,
		  struct rng *r)
{
	static request_maker *const makers[] = {
		[OP_INFO] = make_info,
		[OP_READ] = make_read,
		[OP_RESERVED] = make_reserved,
		[OP_COUNTERS] = request_make_counters,
		[OP_SPLICE] = make_splice,
		[OP_UNSPLICE] = make_unsplice,
		[OP_GLOBALS] = request_make_globals,
		[OP_GLOBAL] = request_make_global,
		[OP_LONG] = request_make_long,
		[OP_WORDS] = request_make_words,
		[OP_INSIDE] = request_make_inside,
		[OP_RING] = request_make_ring,
		[OP_STACKS] = request_make_stacks,
		[OP_TEXTS] = request_make_texts,
		[OP_EVENT] = request_make_event,
		[OP_TABLE] = request_make_table,
		[OP_PROCESS] = request_make_process,
		[OP_PROCESS_MEMORY] = request_make_process_memory,
		[OP_PROCESS_MAP] = request_make_process_map,
		[OP_PROCESS_EDIT] = request_make_process_edit,
		[OP_PROCESS_GO] = request_make_process_go,
		[OP_PROCESS_RELEASE] = request_make_process_release,
	};

	memset(q, 0, sizeof(*q));
	makers[op](q, s, a, r);
	q->arg = (uintptr_t)q->piece[0].at;
}
