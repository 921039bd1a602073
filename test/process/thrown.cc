// SPDX-License-Identifier: GPL-2.0-only
// For each line of its input, a number N, N exceptions are thrown through three functions, one of which
// catches each third and throws it again, in two threads. Prints what came of it.
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>

struct Guard {
	long &count;
	explicit Guard(long &c) : count(c) {}
	~Guard() { count++; }
};

__attribute__((noinline)) long innermost(long n)
{
	if (n % 2)
		throw std::runtime_error("odd " + std::to_string(n));
	return n;
}

__attribute__((noinline)) long middle(long n, long &left)
{
	Guard guard(left);

	try {
		return innermost(n) + 1;
	} catch (const std::exception &) {
		if (n % 3)
			throw;
		return -n;
	}
}

__attribute__((noinline)) long outer(long n, long &left)
{
	Guard guard(left);

	return middle(n, left) * 2;
}

static void all(long times, long *sum)
{
	long left = 0, s = 0;

	for (long i = 0; i < times; i++) {
		try {
			s += outer(i, left);
		} catch (const std::runtime_error &e) {
			s += static_cast<long>(e.what()[0]);
		}
	}
	*sum = s + left * 1000;
}

int main()
{
	char line[32];

	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		long sums[2] = {0, 0};
		std::thread one(all, atol(line), &sums[0]), two(all, atol(line), &sums[1]);

		one.join();
		two.join();
		printf("%ld\n", sums[0] + sums[1]);
		fflush(stdout);
	}
}
