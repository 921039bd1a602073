// SPDX-License-Identifier: GPL-2.0-only
/*
 * board: installs windows with the springboards that it is told, and tells what came of it.
 *
 *	board FUNCTION SPEC...
 *
 * SPEC is KIND:OFFSET:COUNT[:BOUNCE[:GROUP]]: a window of COUNT instructions at FUNCTION+OFFSET;
 * KIND is jmp, trap, bounce (at FUNCTION+BOUNCE), or host: a jmp window without a chunk. Each other
 * one gets a counter at its first instruction. The requests are the driver's own, so windows can be
 * asked for that the planner would not choose.
 *
 * Then it reads commands, one a line, and answers each with a line "COMMAND ERRNO REASON":
 *	in, out		install all windows in one request; take all out
 *	more, less	a second chunk in each window: its patch is built anew; take these out
 *	count		answers "count N..." : each window's counter
 *	info		answers "info WINDOWS HEAP WAITS LATE FILLED": of the driver
 *	cycle SECONDS ROUNDS	in, more, less, out, at least so long and so often, or until one
 *			fails; answers "cycle ERRNO REASON ROUNDS"
 *
 * SIGINT interrupts a request that can be, and nothing else.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "kerninst/splice.h"

#define SPECS 16

struct spec {
	struct ki_window w;
	struct ki_copy copies[KI_WINDOW_INSNS];
	bool host;
	uint32_t first_id, more_id;
};

static struct spec specs[SPECS];
static uint32_t nspecs, counter;
static int fd;

static void die(const char *what, const struct ki_err *err)
{
	fprintf(stderr, "board: %s: %s\n", what, err ? err->msg : "?");
	exit(2);
}

static int by_address(const void *a, const void *b)
{
	const struct spec *x = a, *y = b;

	return x->w.addr < y->w.addr ? -1 : x->w.addr > y->w.addr;
}

/* A return's window may take the breakpoints after it, if a jmp needs them. */
static void widen(struct ki_window *w, const uint8_t *behind, const uint8_t *end)
{
	while (w->board == KI_BOARD_JMP && w->len < 5 && behind < end && *behind == 0xcc) {
		w->orig[w->len++] = 0xcc;
		behind++;
	}
}

static void parse(struct spec *s, const char *text, const struct ki_function *fn)
{
	static const char *const kinds[] = {"jmp", "bounce", "trap", "host"};
	unsigned int off = 0, count = 0, bounce = 0, board = 0, group = 0;
	const struct ki_insn *in;
	char kind[8] = "";

	if (sscanf(text, "%7[a-z]:%u:%u:%u:%u", kind, &off, &count, &bounce, &group) < 3)
		die(text, NULL);
	while (board < 4 && strcmp(kind, kinds[board]))
		board++;
	in = ki_function_insn_at(fn, fn->start + off);
	if (board == 4 || !in || count > KI_WINDOW_INSNS)
		die(text, NULL);
	s->host = board == 3;
	s->w.addr = in->addr;
	s->w.group = group;
	s->w.board = s->host ? KI_BOARD_JMP : board;
	s->w.bounce = board == KI_BOARD_BOUNCE ? fn->start + bounce : 0;
	for (; count--; in++) {
		const uint8_t *bytes = fn->bytes + (in->addr - fn->start);

		if (ki_relocate(in, bytes, &s->copies[s->w.ncopy++]))
			die(text, NULL);
		memcpy(s->w.orig + s->w.len, bytes, in->len);
		s->w.len += in->len;
	}
	widen(&s->w, fn->bytes + (s->w.addr + s->w.len - fn->start),
	      fn->bytes + (fn->end - fn->start));
}

/* All windows, with one chunk each. */
static int install(bool more, uint32_t *reason)
{
	struct ki_window windows[SPECS];
	struct ki_copy copies[SPECS * KI_WINDOW_INSNS];
	struct ki_chunk chunks[SPECS] = {0};
	struct ki_splice req = {.size = sizeof(req), .nwindows = nspecs};
	uint32_t i, owner[SPECS];

	for (i = 0; i < nspecs; i++) {
		struct spec *s = &specs[i];
		struct ki_chunk *c = &chunks[req.nchunks];
		struct ki_code code;

		windows[i] = s->w;
		windows[i].first_copy = req.ncopies;
		memcpy(copies + req.ncopies, s->copies, s->w.ncopy * sizeof(*copies));
		req.ncopies += s->w.ncopy;
		if (s->host)
			continue;
		ki_snippet_count(&code, counter + (more ? nspecs : 0) + i, true);
		c->window = i;
		c->len = code.len;
		c->nfix = code.nfix;
		memcpy(c->fix, code.fix, sizeof(c->fix));
		memcpy(c->code, code.code, code.len);
		owner[req.nchunks++] = i;
	}
	req.windows = (uintptr_t)windows;
	req.copies = (uintptr_t)copies;
	req.chunks = (uintptr_t)chunks;
	*reason = 0;
	if (ioctl(fd, KI_IOC_SPLICE, &req)) {
		*reason = req.reason;
		return errno;
	}
	for (i = 0; i < req.nchunks; i++)
		*(more ? &specs[owner[i]].more_id : &specs[owner[i]].first_id) = chunks[i].id;
	return 0;
}

static int take_out(bool more, uint32_t *reason)
{
	uint32_t ids[2 * SPECS];
	struct ki_unsplice req = {.size = sizeof(req), .ids = (uintptr_t)ids};
	uint32_t i;

	for (i = 0; i < nspecs; i++) {
		if (specs[i].more_id)
			ids[req.count++] = specs[i].more_id;
		if (!more && specs[i].first_id)
			ids[req.count++] = specs[i].first_id;
		specs[i].more_id = 0;
		if (!more)
			specs[i].first_id = 0;
	}
	*reason = 0;
	if (!ioctl(fd, KI_IOC_UNSPLICE, &req))
		return 0;
	*reason = req.reason;
	return errno;
}

static void print_counts(struct ki_target *t)
{
	struct ki_counter_map *map;
	struct ki_err err = {0};
	uint32_t i;

	if (ki_counter_map_new(t, &map, &err))
		die("map", &err);
	printf("count");
	for (i = 0; i < nspecs; i++)
		printf(" %llu", (unsigned long long)ki_counter_read(map, counter + i));
	printf("\n");
	ki_counter_map_free(map);
}

static void print_info(void)
{
	struct ki_info info = {.size = sizeof(info)};

	if (ioctl(fd, KI_IOC_INFO, &info))
		exit(2);
	printf("info %u %llu %llu %llu %llu\n", info.windows, (unsigned long long)info.heap_used,
	       (unsigned long long)info.waits, (unsigned long long)info.late,
	       (unsigned long long)info.filled);
}

static void cycle(void)
{
	uint32_t seconds = 0, least = 0, reason = 0, rounds = 0;
	int err = scanf("%u %u", &seconds, &least) == 2 ? 0 : EINVAL;
	time_t end = time(NULL) + seconds;

	for (; !err && (time(NULL) < end || rounds < least); rounds++) {
		err = install(false, &reason);
		if (!err)
			err = install(true, &reason);
		if (!err)
			err = take_out(true, &reason);
		if (!err)
			err = take_out(false, &reason);
	}
	printf("cycle %d %s %u\n", err, ki_reason_tag(reason), rounds);
}

static bool obey(struct ki_target *t, const char *word)
{
	uint32_t reason = 0;
	int err;

	if (!strcmp(word, "in") || !strcmp(word, "more"))
		err = install(*word == 'm', &reason);
	else if (!strcmp(word, "out") || !strcmp(word, "less"))
		err = take_out(*word == 'l', &reason);
	else if (!strcmp(word, "count"))
		return print_counts(t), true;
	else if (!strcmp(word, "info"))
		return print_info(), true;
	else if (!strcmp(word, "cycle"))
		return cycle(), true;
	else
		return false;
	printf("%s %d %s\n", word, err, ki_reason_tag(reason));
	return true;
}

static void ignore(int sig)
{
	(void)sig;
}

int main(int argc, char **argv)
{
	const struct sigaction interrupted = {.sa_handler = ignore, .sa_flags = SA_RESTART};
	const struct ki_symbol *sym;
	struct ki_function *fn;
	struct ki_target *t;
	struct ki_err err = {0};
	char module[64] = "", name[128], word[16];

	if (argc < 3 || argc - 2 > SPECS || sscanf(argv[1], "%63[^:]:%127s", module, name) != 2)
		return 2;
	if (ki_target_new_live(&t, &err))
		die("open", &err);
	sym = ki_target_symbol_named(t, strcmp(module, "kernel") ? module : "", name, NULL);
	if (!sym || ki_function_analyze(t, sym, &fn, &err))
		die(argv[1], &err);
	fd = ki_target_fd(t);
	sigaction(SIGINT, &interrupted, NULL);
	while ((int)nspecs < argc - 2) {
		parse(&specs[nspecs], argv[2 + nspecs], fn);
		nspecs++;
	}
	qsort(specs, nspecs, sizeof(*specs), by_address);
	if (ki_counters_take(t, 2 * nspecs, &counter, &err))
		die("counters", &err);
	setvbuf(stdout, NULL, _IOLBF, 0);
	while (scanf("%15s", word) == 1)
		if (!obey(t, word))
			return 2;
	ki_function_free(fn);
	ki_target_free(t);
	return 0;
}
