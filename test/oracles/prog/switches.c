// SPDX-License-Identifier: GPL-2.0-only
/*
 * Switches of all forms, compiled in many ways by switches.sh. Each case has a number of its own,
 * so that no two become one. Functions tail_* jump by arrays of functions: no tables of theirs.
 */
#define X(n) __asm__ volatile("movl %0, %%eax" : : "i"(__COUNTER__ * 1000 + (int)((n)&511)) : "eax")
#define CASE(n)                                                                                    \
	case n:                                                                                    \
		X(n);                                                                              \
		break;
#define CASES4(n)  CASE(n) CASE(n + 1) CASE(n + 2) CASE(n + 3)
#define CASES16(n) CASES4(n) CASES4(n + 4) CASES4(n + 8) CASES4(n + 12)
#define CASES64(n) CASES16(n) CASES16(n + 16) CASES16(n + 32) CASES16(n + 48)

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned long u64;

struct op {
	struct op *next;
	int pad, kind;
	u8 small;
	u16 medium;
};

#define FORM(name, type, cases)                                                                    \
	void name(type x);                                                                         \
	void name(type x)                                                                          \
	{                                                                                          \
		switch (x) {                                                                       \
			cases;                                                                     \
		default:                                                                           \
			X(-1);                                                                     \
		}                                                                                  \
	}

FORM(dense_int, int, CASES16(0))
FORM(dense_unsigned, unsigned int, CASES16(0))
FORM(dense_u8, u8, CASES16(3))
FORM(dense_s8, signed char, CASES16(-8))
FORM(dense_u16, u16, CASES16(1000))
FORM(dense_short, short, CASES16(-300))
FORM(dense_u64, u64, CASES16(0x500000000ul))
FORM(dense_long, long, CASES16(-5))
FORM(negative, int, CASES16(-40) CASES16(-20))
FORM(many, int, CASES64(0) CASES64(64) CASES64(128) CASES64(192) CASES64(256))
FORM(all_bytes, u8, CASES64(0) CASES64(64) CASES64(128) CASES64(192))
FORM(half_bytes, u8, CASES64(100) CASES64(164))
FORM(sparse, int, CASE(1) CASE(3) CASE(4) CASE(7) CASE(11) CASE(12) CASE(17) CASE(20))
FORM(islands, int, CASES16(0) CASES16(1000) CASES16(100000))
FORM(one_byte_more, int, CASES64(0) CASES64(64) CASE(128))
FORM(ranges, int, case 2 ... 9
     : X(2);
     break; case 12 ... 13
     : X(12);
     break; case 20 ... 40
     : X(20);
     break; CASES4(50) CASES4(60))

void unreachable(int x);
void unreachable(int x)
{
	switch (x) {
		CASES16(0)
	default:
		__builtin_unreachable();
	}
}

void masked(unsigned int x);
void masked(unsigned int x)
{
	switch (x & 7) {
		CASES4(0) CASES4(4)
	}
}

void masked_byte(u8 x);
void masked_byte(u8 x)
{
	switch (x & 31) {
		CASES16(0) CASES16(16)
	}
}

void shifted(unsigned int x);
void shifted(unsigned int x)
{
	switch (x >> 28) {
		CASES16(0)
	}
}

void nested(int x, int y);
void nested(int x, int y)
{
	switch (x) {
		CASES4(0)
	case 4:
		switch (y) {
			CASES16(10)
		}
		break;
	case 5:
		switch (y + x) {
			CASES16(20)
		default:
			X(-2);
		}
		break;
		CASES4(6)
	}
}

void one_after_other(int x, int y);
void one_after_other(int x, int y)
{
	switch (x) {
		CASES16(0)
	}
	switch (y) {
		CASES16(5)
	}
	switch (x) {
		CASES16(8)
	}
}

void in_memory(const struct op *o);
void in_memory(const struct op *o)
{
	switch (o->kind) {
		CASES16(0)
	}
}

void in_memory_small(const struct op *o);
void in_memory_small(const struct op *o)
{
	switch (o->small) {
		CASES16(0)
	}
	switch (o->medium) {
		CASES16(7)
	}
}

void in_loop(const struct op *o);
void in_loop(const struct op *o)
{
	for (; o; o = o->next) {
		switch (o->kind) {
			CASES16(0)
		}
		switch (o->small) {
			CASES16(2)
		}
	}
}

void interpreter(const u8 *pc);
void interpreter(const u8 *pc)
{
	for (;;) {
		switch (*pc++) {
			CASES64(0)
		case 64:
			return;
		default:
			__builtin_unreachable();
		}
	}
}

void pressed(const struct op *o, int *v, int n);
void pressed(const struct op *o, int *v, int n)
{
	int a = v[0], b = v[1], c = v[2], d = v[3], e = v[4], f = v[5], g = v[6], h = v[7];

	for (int i = 0; i < n; i++, o = o->next) {
		switch (o->kind) {
		case 0:
			a += b;
			X(0);
			break;
		case 1:
			b ^= c;
			X(1);
			break;
		case 2:
			c -= d;
			X(2);
			break;
		case 3:
			d *= e;
			X(3);
			break;
		case 4:
			e += f;
			X(4);
			break;
		case 5:
			f ^= g;
			X(5);
			break;
		case 6:
			g += h;
			X(6);
			break;
		case 7:
			h -= a;
			X(7);
			break;
		}
	}
	v[0] = a, v[1] = b, v[2] = c, v[3] = d, v[4] = e, v[5] = f, v[6] = g, v[7] = h;
}

void labels(const u8 *pc);
void labels(const u8 *pc)
{
	static void *const table[] = {&&one, &&two, &&three, &&four, &&end};

	goto *table[*pc++];
one:
	X(1);
	goto *table[*pc++];
two:
	X(2);
	goto *table[*pc++];
three:
	X(3);
	goto *table[*pc++];
four:
	X(4);
	goto *table[*pc++];
end:
	X(5);
}

void label_offsets(const u8 *pc);
void label_offsets(const u8 *pc)
{
	static const int table[] = {&&one - &&one, &&two - &&one, &&three - &&one};

	goto *(&&one + table[*pc]);
one:
	X(1);
	return;
two:
	X(2);
	return;
three:
	X(3);
}

int tail_one(int x);
int tail_two(int x);
int tail_array(int x, unsigned int i);
int tail_pointer(int x, int (*f)(int));
int tail_checked(int x, unsigned int i);

int tail_one(int x)
{
	return x + 1;
}

int tail_two(int x)
{
	return x * 3;
}

static int (*const functions[])(int) = {tail_one, tail_two, tail_one, tail_two};

int tail_array(int x, unsigned int i)
{
	return functions[i](x);
}

int tail_checked(int x, unsigned int i)
{
	return i < 4 ? functions[i](x) : 0;
}

int tail_pointer(int x, int (*f)(int))
{
	return f(x);
}
