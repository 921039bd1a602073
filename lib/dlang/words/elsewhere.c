// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Names that programs written for other systems use, and what Linux has for them: words for
 * messages, nothing is found by them.
 */
#include <string.h>

#include "dlang/words/names.h"

#define FILES	 "vfs::: has what is done to files, with struct file and the like in args[]"
#define PACKETS	 "ip:::, tcp::: and udp::: have each packet, with its size in args[2]->ip_plength"
#define THREADS	 "pid$target:libc:pthread_mutex_lock: and its like are functions"
#define FUNCTION "what a driver of this kernel does are functions, fbt's"
#define BUILT_IN "what is built into the kernel has the module vmlinux, and other functions"

/* The first of a probe's fields that is there must begin so, the others must be the same. */
static const struct {
	const char *provider, *module, *function, *name, *hint;
} probes[] = {
	{"syscall", "", "exece", "", "Linux's call is execve"},
	{"syscall", "", "exec", "", "Linux's call is execve"},
	{"syscall", "", "rexit", "", "Linux's calls are exit and exit_group"},
	{"syscall", "", "forksys", "", "Linux's calls are clone, clone3, fork and vfork"},
	{"syscall", "", "fork1", "", "Linux's calls are clone, clone3, fork and vfork"},
	{"syscall", "", "open64", "", "Linux's calls are open and openat"},
	{"syscall", "", "openat64", "", "Linux's call is openat"},
	{"syscall", "", "creat64", "", "Linux's call is creat"},
	{"syscall", "", "stat64", "", "Linux's calls are stat, newfstatat and statx"},
	{"syscall", "", "pread", "", "Linux's call is pread64"},
	{"syscall", "", "pwrite", "", "Linux's call is pwrite64"},
	{"syscall", "", "gtime", "", "Linux's call is time"},
	{"syscall", "", "statvfs", "", "Linux's call is statfs"},
	{"syscall", "", "umount2", "", "Linux's call is umount"},
	{"syscall", "", "lwp_sigmask", "", "Linux's call is rt_sigprocmask"},
	{"syscall", "", "so_socket", "", "Linux's call is socket"},
	{"syscall", "", "sigaction", "", "Linux's call is rt_sigaction"},
	{"syscall", "", "pollsys", "", "Linux's calls are poll, ppoll, select and pselect6"},
	{"fsinfo", "", "", "", FILES},
	{"mib", "", "", "", PACKETS},
	{"plockstat", "", "", "", THREADS},
	{"vminfo", "", "", "zfod", "here these are in vminfo:::as_fault, with all others"},
	{"nfs", "", "", "", FUNCTION},
	{"iscsi", "", "", "", FUNCTION},
	{"zfs", "", "", "", FUNCTION},
	{"sdt", "", "", "interrupt-start", "Linux's is rawtp:irq::irq_handler_entry"},
	{"sdt", "", "", "interrupt-complete", "Linux's is rawtp:irq::irq_handler_exit"},
	{"sdt", "", "", "callout-start", "callout:::timer-start and hrtimer-start are like it"},
	{"sdt", "", "", "callout-end", "callout:::timer-end and hrtimer-end are like it"},
	{"", "genunix", "", "", BUILT_IN},
	{"", "unix", "", "", BUILT_IN},
	{"", "mach_kernel", "", "", BUILT_IN},
};

static bool begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

static bool is_same(const char *text, const char *wanted)
{
	return !*wanted || !strcmp(text, wanted);
}

const char *ki_d_elsewhere_probe(const char *const field[4])
{
	for (size_t i = 0; i < sizeof(probes) / sizeof(*probes); i++)
		if (begins(field[0], probes[i].provider) && is_same(field[1], probes[i].module) &&
		    is_same(field[2], probes[i].function) && is_same(field[3], probes[i].name))
			return probes[i].hint;
	return strstr(field[2], "_nocancel") ? "Linux's call has no _nocancel in its name" : NULL;
}

const char *ki_d_elsewhere_variable(const char *name)
{
	static const struct {
		const char *name, *hint;
	} variables[] = {
		{"hp_avenrun", "`avenrun[0] / 2048 is the load, 11 bits below the point"},
		{"ncpus_online", "`nr_cpu_ids is how many CPUs there can be"},
		{"ncpus", "`nr_cpu_ids is how many CPUs there can be"},
		{"max_ncpus", "`nr_cpu_ids is how many CPUs there can be"},
		{"physmem", "`_totalram_pages.counter is how many pages there are"},
		{"lbolt", "`jiffies counts ticks"},
		{"utsname", "`init_uts_ns.name has the system's names"},
		{"mpid", "`init_pid_ns.idr.idr_next is the next process's number"},
	};

	for (size_t i = 0; i < sizeof(variables) / sizeof(*variables); i++)
		if (!strcmp(name, variables[i].name))
			return variables[i].hint;
	return NULL;
}

const char *ki_d_elsewhere_member(const char *type, const char *member)
{
	if (strcmp(type, "task_struct") != 0)
		return NULL;
	if (!strcmp(member, "t_cpu"))
		return "cpu and curcpu are those that it runs on";
	if (begins(member, "t_") || begins(member, "p_") || begins(member, "td_"))
		return "curpsinfo, curlwpsinfo, pid and ppid say of it what they say elsewhere";
	return NULL;
}
