// SPDX-License-Identifier: GPL-2.0-only
// D programs to begin with.

export interface Example {
	name: string;
	text: string;
}

export const examples: Example[] = [
	{
		name: "System calls by name, every 2 seconds",
		text: `#pragma D option quiet

syscall:::entry
{
	@[probefunc] = count();
}

tick-2s
{
	trunc(@, 10);
	printa("%-24s %@10d\\n", @);
	printf("\\n");
	trunc(@);
}
`,
	},
	{
		name: "Sizes of reads, by program",
		text: `#pragma D option quiet

syscall::read:return
/arg0 > 0/
{
	@[execname] = quantize(arg0);
}

tick-5s
{
	printa(@);
	trunc(@);
}
`,
	},
	{
		name: "Run-queue latency, in nanoseconds",
		text: `#pragma D option quiet

sched:::enqueue
{
	since[args[0]->pr_lwpid] = timestamp;
}

sched:::on-cpu
/since[curlwpsinfo->pr_lwpid]/
{
	@["ns from runnable to running"] = quantize(timestamp - since[curlwpsinfo->pr_lwpid]);
	since[curlwpsinfo->pr_lwpid] = 0;
}

tick-5s
{
	printa(@);
	trunc(@);
}
`,
	},
	{
		name: "What opens files",
		text: `#pragma D option quiet

syscall::openat:entry
{
	printf("%-16s %6d %s\\n", execname, pid, copyinstr(arg1));
}
`,
	},
	{
		name: "Time in system calls, by name",
		text: `#pragma D option quiet

syscall:::entry
{
	self->begun = timestamp;
}

syscall:::return
/self->begun/
{
	@[probefunc] = sum(timestamp - self->begun);
	self->begun = 0;
}

END
{
	trunc(@, 20);
	printa("%-24s %@15d ns\\n", @);
}
`,
	},
];
