// SPDX-License-Identifier: GPL-2.0-only
/*
 * Witnesses that know nothing of the library.
 *
 * oracle text PID: a hash of all of its executable mappings of files, and how many mappings of ours
 * it has.
 * oracle steps ADDRESSES COMMAND...: execute COMMAND instruction by instruction; how often each of
 * the addresses (a file, one in a line) was reached, "ADDRESS COUNT".
 * oracle kill MS COMMAND...: start it, and kill -9 it after so many milliseconds; whether it was
 * still there.
 * oracle filter: filter its own system calls, and sleep.
 * oracle vfork: wait in the kernel for a child that never ends.
 * oracle crowd: leave no free address in reach of its code, and sleep.
 * oracle signal PID ADDRESS: when it comes there, it gets a SIGUSR1.
 * oracle trace PID: trace it until the end of the input.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

static int fail(const char *what)
{
	fprintf(stderr, "oracle: %s: %s\n", what, strerror(errno));
	return 1;
}

/* FNV-1a */
static uint64_t hash(uint64_t h, const unsigned char *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		h = (h ^ bytes[i]) * 0x100000001b3;
	return h;
}

static int hash_mapping(int mem, uint64_t start, uint64_t end, uint64_t *h)
{
	static unsigned char page[4096];

	*h = hash(*h, (unsigned char *)&start, sizeof(start));
	for (; start < end; start += sizeof(page)) {
		if (pread(mem, page, sizeof(page), (off_t)start) != sizeof(page))
			return fail("mem");
		*h = hash(*h, page, sizeof(page));
	}
	return 0;
}

static int text(const char *pid)
{
	char path[64], line[4400], perms[5];
	uint64_t start, end, inode, h = 0xcbf29ce484222325;
	int mem, ours = 0;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%s/mem", pid);
	mem = open(path, O_RDONLY);
	snprintf(path, sizeof(path), "/proc/%s/maps", pid);
	maps = fopen(path, "r");
	if (mem < 0 || !maps)
		return fail(pid);
	while (fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %*x %*x:%*x %" SCNu64, &start, &end,
			   perms, &inode) != 4)
			continue;
		if (strstr(line, "kerninst (deleted)"))
			ours++;
		else if (perms[2] == 'x' && inode && hash_mapping(mem, start, end, &h))
			return 1;
	}
	printf("%016" PRIx64 " %d\n", h, ours);
	return 0;
}

struct place {
	uint64_t addr, count;
};

static int by_addr(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return (x->addr > y->addr) - (x->addr < y->addr);
}

static size_t read_places(const char *path, struct place *p, size_t most)
{
	FILE *f = fopen(path, "r");
	size_t n = 0;

	while (f && n < most && fscanf(f, "%" SCNx64, &p[n].addr) == 1)
		n++;
	if (f)
		fclose(f);
	qsort(p, n, sizeof(*p), by_addr);
	return n;
}

static void note(struct place *p, size_t n, uint64_t rip)
{
	struct place key = {.addr = rip}, *found = bsearch(&key, p, n, sizeof(*p), by_addr);

	if (found)
		found->count++;
}

static int steps(const char *addresses, char **command)
{
	static struct place places[100000];
	size_t n = read_places(addresses, places, 100000);
	struct user_regs_struct regs;
	pid_t pid = fork();
	int status, sig = 0;

	if (!pid) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		dup2(2, 1);
		execv(command[0], command);
		_exit(127);
	}
	while (waitpid(pid, &status, 0) == pid && WIFSTOPPED(status)) {
		sig = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
		if (!sig && !ptrace(PTRACE_GETREGS, pid, NULL, &regs))
			note(places, n, regs.rip);
		if (ptrace(PTRACE_SINGLESTEP, pid, NULL, (void *)(intptr_t)sig))
			return fail("step");
	}
	for (size_t i = 0; i < n; i++)
		printf("0x%" PRIx64 " %" PRIu64 "\n", places[i].addr, places[i].count);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static int kill_after(const char *ms, char **command)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		execv(command[0], command);
		_exit(127);
	}
	usleep((unsigned int)(atof(ms) * 1000));
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	puts(WIFSIGNALED(status) ? "killed" : "ended");
	return 0;
}

static int signal_at(pid_t pid, uint64_t addr)
{
	const unsigned char int3 = 0xcc;
	struct user_regs_struct regs;
	unsigned char orig;
	char path[64];
	int mem, status;

	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	mem = open(path, O_RDWR);
	if (ptrace(PTRACE_SEIZE, pid, NULL, NULL) || pread(mem, &orig, 1, (off_t)addr) != 1 ||
	    pwrite(mem, &int3, 1, (off_t)addr) != 1)
		return fail("signal");
	waitpid(pid, &status, __WALL);
	ptrace(PTRACE_GETREGS, pid, NULL, &regs);
	regs.rip = addr;
	ptrace(PTRACE_SETREGS, pid, NULL, &regs);
	if (pwrite(mem, &orig, 1, (off_t)addr) != 1)
		return fail("signal");
	return ptrace(PTRACE_DETACH, pid, NULL, (void *)(intptr_t)SIGUSR1) ? fail("detach") : 0;
}

static int trace(pid_t pid)
{
	char c;

	if (ptrace(PTRACE_SEIZE, pid, NULL, NULL))
		return fail("seize");
	puts("tracing");
	fflush(stdout);
	while (read(0, &c, 1) > 0)
		;
	return 0;
}

/* All are allowed; but nobody else can know that. */
static int filter(void)
{
	struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog prog = {1, &allow};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog))
		return fail("seccomp");
	pause();
	return 0;
}

/* What waits for such a child stops for nobody. The child ends with its parent. */
static int wait_for_ever(void)
{
	if (!vfork()) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	return 1;
}

#define REACH (4ll << 30)

static void fill(uint64_t from, uint64_t to)
{
	if (from < to)
		mmap((void *)from, to - from, PROT_NONE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
}

static int crowd(void)
{
	const uint64_t here = (uint64_t)(uintptr_t)crowd & ~4095ull;
	const uint64_t lo = here > REACH ? here - REACH : 1 << 16, hi = here + REACH;
	uint64_t starts[256], ends[256], from = lo;
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[4400];
	int n = 0;

	while (maps && n < 256 && fgets(line, sizeof(line), maps))
		n += sscanf(line, "%" SCNx64 "-%" SCNx64, &starts[n], &ends[n]) == 2;
	for (int i = 0; i < n && from < hi; i++) {
		fill(from, starts[i] < hi ? starts[i] : hi);
		from = ends[i] > from ? ends[i] : from;
	}
	fill(from, hi);
	pause();
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "text"))
		return text(argv[2]);
	if (argc > 3 && !strcmp(argv[1], "steps"))
		return steps(argv[2], argv + 3);
	if (argc > 3 && !strcmp(argv[1], "kill"))
		return kill_after(argv[2], argv + 3);
	if (argc == 4 && !strcmp(argv[1], "signal"))
		return signal_at(atoi(argv[2]), strtoull(argv[3], NULL, 16));
	if (argc == 3 && !strcmp(argv[1], "trace"))
		return trace(atoi(argv[2]));
	if (argc == 2 && !strcmp(argv[1], "filter"))
		return filter();
	if (argc == 2 && !strcmp(argv[1], "vfork"))
		return wait_for_ever();
	if (argc == 2 && !strcmp(argv[1], "crowd"))
		return crowd();
	return 2;
}
