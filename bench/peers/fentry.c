// SPDX-License-Identifier: GPL-2.0-only
/*
 * fentry empty|array FUNCTION: a BPF program at the function's entry, loaded by the bare bpf(2)
 * call, so that nothing but the mechanism is measured: one that does nothing, or one that adds
 * one in a per-CPU array. Prints "ready" when it is attached; when its input ends, "hits N".
 *
 * The empty program cannot count. The kernel counts its runs while BPF statistics are on, which
 * costs: so they are on only while a line "stats" has been read and not yet a second one.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/btf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static void die(const char *what)
{
	fprintf(stderr, "fentry: %s: %s\n", what, strerror(errno));
	exit(1);
}

static int bpf(enum bpf_cmd cmd, union bpf_attr *attr)
{
	return syscall(SYS_bpf, cmd, attr, sizeof(*attr));
}

/* Bytes of what follows a type's header, by its kind. */
static size_t btf_tail(const struct btf_type *t)
{
	size_t n = BTF_INFO_VLEN(t->info);

	switch (BTF_INFO_KIND(t->info)) {
	case BTF_KIND_INT:
	case BTF_KIND_VAR:
	case BTF_KIND_DECL_TAG:
		return 4;
	case BTF_KIND_ARRAY:
		return sizeof(struct btf_array);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return n * sizeof(struct btf_member);
	case BTF_KIND_ENUM:
		return n * sizeof(struct btf_enum);
	case BTF_KIND_ENUM64:
	case BTF_KIND_DATASEC:
		return n * 12;
	case BTF_KIND_FUNC_PROTO:
		return n * sizeof(struct btf_param);
	default:
		return 0;
	}
}

static uint32_t btf_find_func(const uint8_t *btf, const char *name)
{
	const struct btf_header *h = (const void *)btf;
	const uint8_t *p = btf + h->hdr_len + h->type_off, *end = p + h->type_len;
	const char *strings = (const char *)btf + h->hdr_len + h->str_off;
	uint32_t id;

	for (id = 1; p < end; id++) {
		const struct btf_type *t = (const void *)p;

		if (BTF_INFO_KIND(t->info) == BTF_KIND_FUNC && !strcmp(strings + t->name_off, name))
			return id;
		p += sizeof(*t) + btf_tail(t);
	}
	return 0;
}

/* The kernel's description of its own types: the number of a function. */
static uint32_t func_id(const char *name)
{
	int fd = open("/sys/kernel/btf/vmlinux", O_RDONLY);
	struct stat st;
	uint8_t *btf;
	size_t got = 0;
	ssize_t n;
	uint32_t id;

	if (fd < 0 || fstat(fd, &st))
		die("/sys/kernel/btf/vmlinux");
	btf = malloc(st.st_size);
	while (btf && got < (size_t)st.st_size) {
		n = read(fd, btf + got, st.st_size - got);
		if (n <= 0)
			die("/sys/kernel/btf/vmlinux");
		got += n;
	}
	close(fd);
	id = btf ? btf_find_func(btf, name) : 0;
	free(btf);
	if (!id)
		die(name);
	return id;
}

static int map_create(void)
{
	union bpf_attr attr = {
		.map_type = BPF_MAP_TYPE_PERCPU_ARRAY,
		.key_size = 4,
		.value_size = 8,
		.max_entries = 1,
	};
	int fd = bpf(BPF_MAP_CREATE, &attr);

	if (fd < 0)
		die("map");
	return fd;
}

static int prog_load(const struct bpf_insn *insns, size_t n, const char *function)
{
	static char log[65536];
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_TRACING,
		.expected_attach_type = BPF_TRACE_FENTRY,
		.attach_btf_id = func_id(function),
		.insns = (uintptr_t)insns,
		.insn_cnt = n,
		.license = (uintptr_t) "GPL",
		.log_buf = (uintptr_t)log,
		.log_size = sizeof(log),
		.log_level = 1,
	};
	int fd = bpf(BPF_PROG_LOAD, &attr);

	if (fd < 0) {
		fputs(log, stderr);
		die("program");
	}
	return fd;
}

#define I(c, d, s, o, i)                                                                           \
	{                                                                                          \
		.code = (c), .dst_reg = (d), .src_reg = (s), .off = (o), .imm = (i)                \
	}

static int load_empty(const char *function)
{
	const struct bpf_insn insns[] = {
		I(BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 0), /* return 0 */
		I(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
	};

	return prog_load(insns, sizeof(insns) / sizeof(*insns), function);
}

static int load_array(const char *function, int map)
{
	const struct bpf_insn insns[] = {
		I(BPF_ST | BPF_MEM | BPF_W, 10, 0, -4, 0),   /* key = 0 */
		I(BPF_ALU64 | BPF_MOV | BPF_X, 2, 10, 0, 0), /* r2 = &key */
		I(BPF_ALU64 | BPF_ADD | BPF_K, 2, 0, 0, -4),
		I(BPF_LD | BPF_DW | BPF_IMM, 1, BPF_PSEUDO_MAP_FD, 0, map), /* r1 = map */
		I(0, 0, 0, 0, 0),
		I(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_map_lookup_elem),
		I(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 3, 0),  /* if (r0) */
		I(BPF_LDX | BPF_MEM | BPF_DW, 1, 0, 0, 0), /*   (*r0)++ */
		I(BPF_ALU64 | BPF_ADD | BPF_K, 1, 0, 0, 1),
		I(BPF_STX | BPF_MEM | BPF_DW, 0, 1, 0, 0),
		I(BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 0), /* return 0 */
		I(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
	};

	return prog_load(insns, sizeof(insns) / sizeof(*insns), function);
}

static uint64_t map_sum(int map)
{
	static uint64_t values[4096]; /* one per possible CPU */
	uint32_t key = 0;
	union bpf_attr attr = {
		.map_fd = map,
		.key = (uintptr_t)&key,
		.value = (uintptr_t)values,
	};
	uint64_t sum = 0;
	size_t i;

	if (bpf(BPF_MAP_LOOKUP_ELEM, &attr))
		die("read the map");
	for (i = 0; i < sizeof(values) / sizeof(*values); i++)
		sum += values[i];
	return sum;
}

static uint64_t prog_runs(int prog)
{
	struct bpf_prog_info info = {0};
	union bpf_attr attr = {
		.info = {.bpf_fd = prog, .info_len = sizeof(info), .info = (uintptr_t)&info},
	};

	if (bpf(BPF_OBJ_GET_INFO_BY_FD, &attr))
		die("read the program's statistics");
	return info.run_cnt;
}

/* Each line toggles the statistics. */
static void serve(void)
{
	union bpf_attr attr = {.enable_stats = {.type = BPF_STATS_RUN_TIME}};
	int c, stats = -1;

	while ((c = getchar()) != EOF) {
		if (c != '\n')
			continue;
		if (stats >= 0) {
			close(stats);
			stats = -1;
		} else {
			stats = bpf(BPF_ENABLE_STATS, &attr);
			if (stats < 0)
				die("statistics");
		}
		puts("ok");
		fflush(stdout);
	}
}

int main(int argc, char **argv)
{
	bool array = argc == 3 && !strcmp(argv[1], "array");
	union bpf_attr attr = {0};
	int prog, map = -1;

	if (argc != 3 || (!array && strcmp(argv[1], "empty"))) {
		fprintf(stderr, "usage: fentry empty|array FUNCTION\n");
		return 2;
	}
	if (array)
		map = map_create();
	prog = array ? load_array(argv[2], map) : load_empty(argv[2]);
	attr.raw_tracepoint.prog_fd = prog;
	if (bpf(BPF_RAW_TRACEPOINT_OPEN, &attr) < 0)
		die("attach");
	puts("ready");
	fflush(stdout);
	serve();
	printf("hits %llu\n", (unsigned long long)(array ? map_sum(map) : prog_runs(prog)));
	return 0;
}
