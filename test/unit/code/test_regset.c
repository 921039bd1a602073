// SPDX-License-Identifier: GPL-2.0-only
/*
 * Registers and flags that instructions use and define, of those that test_regexec.c cannot
 * execute and of those that people get wrong; and text: of sets, and of instructions in AT&T
 * syntax, as objdump writes it.
 */
#include "common_code.h"

#include <string.h>

#include "code/decode/decode.h"

#define ALL "rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8, r9, r10, r11, r12, r13, r14, r15, flags"

/* Rows of hand-assembled bytes. */
#define CODE(...) {__VA_ARGS__}, sizeof((uint8_t[]){__VA_ARGS__})

static const struct {
	uint8_t bytes[15], len;
	const char *use, *def;
} cases[] = {
	/* parts */
	{CODE(0x00, 0xfc), "ah, bh", "ah, flags"},	     /* add ah, bh */
	{CODE(0x40, 0x00, 0xfc), "spl, dil", "spl, flags"},  /* add spl, dil */
	{CODE(0x66, 0xb8, 1, 0), "-", "ax"},		     /* mov ax, 1 */
	{CODE(0xb0, 1), "-", "al"},			     /* mov al, 1 */
	{CODE(0xb8, 1, 0, 0, 0), "-", "rax"},		     /* mov eax, 1 */
	{CODE(0x8b, 0x04, 0x4b), "rcx, rbx", "rax"},	     /* mov eax, [rbx+rcx*2] */
	{CODE(0x67, 0x8b, 0x03), "rbx", "rax"},		     /* mov eax, [ebx] */
	{CODE(0x66, 0x89, 0x03), "ax, rbx", "-"},	     /* mov [rbx], ax */
	{CODE(0x0f, 0xb6, 0xc4), "ah", "rax"},		     /* movzx eax, ah */
	{CODE(0x87, 0xd8), "rax, rbx", "rax, rbx"},	     /* xchg eax, ebx */
	{CODE(0x0f, 0xc0, 0xe3), "ah, bl", "ah, bl, flags"}, /* xadd bl, ah */
	/* results that do not depend on what is read */
	{CODE(0x31, 0xc0), "-", "rax, flags"},		     /* xor eax, eax */
	{CODE(0x30, 0xc0), "-", "al, flags"},		     /* xor al, al */
	{CODE(0x30, 0xe0), "ax", "al, flags"},		     /* xor al, ah */
	{CODE(0x48, 0x29, 0xdb), "-", "rbx, flags"},	     /* sub rbx, rbx */
	{CODE(0x19, 0xc0), "cf", "rax, flags"},		     /* sbb eax, eax */
	{CODE(0x31, 0xd8), "rax, rbx", "rax, flags"},	     /* xor eax, ebx */
	{CODE(0xf3, 0x0f, 0xb8, 0xc3), "rbx", "rax, flags"}, /* popcnt eax, ebx */
	{CODE(0x0f, 0x1f, 0x44, 0, 0), "-", "-"},	     /* nop [rax+rax] */
	{CODE(0x90), "-", "-"},				     /* nop */
	{CODE(0x87, 0xc0), "rax", "rax"},		     /* xchg eax, eax */
	{CODE(0xf3, 0x0f, 0x1e, 0xfa), "-", "-"},	     /* endbr64 */
	/* what is perhaps written */
	{CODE(0x0f, 0x44, 0xc3), "rax, rbx, zf", "-"},			 /* cmove eax, ebx */
	{CODE(0x48, 0x0f, 0xb1, 0x0b), "rax, rcx, rbx", "flags"},	 /* cmpxchg [rbx], rcx */
	{CODE(0x0f, 0xb1, 0xcb), "rax, rcx, rbx", "flags"},		 /* cmpxchg ebx, ecx */
	{CODE(0x48, 0x0f, 0xc7, 0x0e), "rax, rcx, rdx, rbx, rsi", "zf"}, /* cmpxchg16b */
	{CODE(0x0f, 0xbc, 0xc3), "rax, rbx", "flags"},			 /* bsf eax, ebx */
	{CODE(0xd3, 0xe0), "rax, cl", "rax"},				 /* shl eax, cl */
	{CODE(0xc1, 0xe0, 3), "rax", "rax, flags"},			 /* shl eax, 3 */
	{CODE(0xc1, 0xe0, 0x20), "rax", "rax"},				 /* shl eax, 32 */
	{CODE(0xd1, 0xd8), "rax, cf", "rax, cf, of"},			 /* rcr eax, 1 */
	{CODE(0xf3, 0xa4), "rcx, rsi, rdi", "-"},			 /* rep movsb */
	{CODE(0xf3, 0x48, 0xab), "rax, rcx, rdi", "-"},			 /* rep stosq */
	{CODE(0xf3, 0xac), "al, rcx, rsi", "-"},			 /* rep lodsb */
	{CODE(0xf3, 0xa6), "rcx, rsi, rdi, zf", "-"},			 /* repe cmpsb */
	{CODE(0xa4), "rsi, rdi", "rsi, rdi"},				 /* movsb */
	{CODE(0xa6), "rsi, rdi", "rsi, rdi, flags"},			 /* cmpsb */
	/* what is not written in them */
	{CODE(0x48, 0xf7, 0xe3), "rax, rbx", "rax, rdx, flags"},      /* mul rbx */
	{CODE(0xf6, 0xe3), "al, bl", "ax, flags"},		      /* mul bl */
	{CODE(0x48, 0xf7, 0xf3), "rax, rdx, rbx", "rax, rdx, flags"}, /* div rbx */
	{CODE(0x48, 0x99), "rax", "rdx"},			      /* cqo */
	{CODE(0x9f), "cf, pf, af, zf, sf", "ah"},		      /* lahf */
	{CODE(0x9e), "ah", "cf, pf, af, zf, sf"},		      /* sahf */
	{CODE(0x9c), "rsp, flags", "rsp"},			      /* pushf */
	{CODE(0x9d), "rsp", "rsp, flags"},			      /* popf */
	{CODE(0x53), "rbx, rsp", "rsp"},			      /* push rbx */
	{CODE(0x5b), "rsp", "rbx, rsp"},			      /* pop rbx */
	{CODE(0xc8, 8, 0, 0), "rsp, rbp", "rsp, rbp"},		      /* enter 8, 0 */
	{CODE(0xc9), "rsp, rbp", "rsp, rbp"},			      /* leave */
	{CODE(0xd7), "al, rbx", "al"},				      /* xlat */
	{CODE(0x0f, 0xa2), "rax, rcx", "rax, rcx, rdx, rbx"},	      /* cpuid */
	{CODE(0x0f, 0x31), "-", "rax, rdx"},			      /* rdtsc */
	{CODE(0x0f, 0x01, 0xf9), "-", "rax, rcx, rdx"},		      /* rdtscp */
	{CODE(0x0f, 0x32), "rcx", "rax, rdx"},			      /* rdmsr */
	{CODE(0x0f, 0x30), "rax, rcx, rdx", "-"},		      /* wrmsr */
	{CODE(0x0f, 0x33), "rcx", "rax, rdx"},			      /* rdpmc */
	{CODE(0x0f, 0x01, 0xd0), "rcx", "rax, rdx"},		      /* xgetbv */
	{CODE(0x0f, 0x01, 0xd1), "rax, rcx, rdx", "-"},		      /* xsetbv */
	{CODE(0x0f, 0x01, 0xee), "rcx", "rax, rdx"},		      /* rdpkru */
	{CODE(0x0f, 0x01, 0xef), "rax, rcx, rdx", "-"},		      /* wrpkru */
	{CODE(0x0f, 0xae, 0x2b), "rax, rdx, rbx", "-"},		      /* xrstor [rbx] */
	{CODE(0xec), ALL, "-"},					      /* in al, dx */
	{CODE(0xef), ALL, "-"},					      /* out dx, eax */
	{CODE(0x0f, 0xc7, 0xf0), "-", "rax, flags"},		      /* rdrand eax */
	{CODE(0x0f, 0x20, 0xd8), "-", "rax"},			      /* mov rax, cr3 */
	{CODE(0x0f, 0x22, 0xd8), "rax", "-"},			      /* mov cr3, rax */
	{CODE(0x66, 0x0f, 0x38, 0x82, 0x03), "rax, rbx", "-"},	      /* invpcid rax, [rbx] */
	{CODE(0x65, 0x48, 0xff, 0x04, 0x25, 0, 0, 0, 0), "-", "pf, af, zf, sf, of"}, /* inc gs: */
	/* control transfers: only their own operands */
	{CODE(0xe8, 1, 0, 0, 0), "rsp", "rsp"},	      /* call */
	{CODE(0xff, 0xd0), "rax, rsp", "rsp"},	      /* call rax */
	{CODE(0xff, 0x64, 0xc3, 8), "rax, rbx", "-"}, /* jmp [rbx+rax*8+8] */
	{CODE(0xe9, 1, 0, 0, 0), "-", "-"},	      /* jmp */
	{CODE(0xc3), "rsp", "rsp"},		      /* ret */
	{CODE(0x76, 1), "cf, zf", "-"},		      /* jbe */
	{CODE(0xe2, 1), "rcx", "rcx"},		      /* loop */
	{CODE(0xe1, 1), "rcx, zf", "rcx"},	      /* loope */
	{CODE(0xe3, 1), "rcx", "-"},		      /* jrcxz */
	/* code that is not known */
	{CODE(0x0f, 0x05), ALL, "-"},	    /* syscall */
	{CODE(0x48, 0xcf), ALL, "-"},	    /* iretq */
	{CODE(0x48, 0x0f, 0x07), ALL, "-"}, /* sysretq */
	{CODE(0xcd, 0x80), ALL, "-"},	    /* int 0x80 */
	{CODE(0xcc), ALL, "-"},		    /* int3 */
	{CODE(0x0f, 0x0b), ALL, "-"},	    /* ud2 */
	{CODE(0xf4), ALL, "-"},		    /* hlt */
	{CODE(0x0f, 0x01, 0xc1), ALL, "-"}, /* vmcall */
	{CODE(0x0f, 0x01, 0xc2), ALL, "-"}, /* vmlaunch */
	{CODE(0x0f, 0x01, 0xd8), ALL, "-"}, /* vmrun */
	{CODE(0xff, 0x1b), ALL, "-"},	    /* call far [rbx] */
	{CODE(0xcb), ALL, "-"},		    /* ret far */
	{CODE(0x06), ALL, "-"},		    /* no instruction */
};

static void use_and_def(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char use[128], def[128];
		struct ki_decoded d;

		ki_decode(cases[i].bytes, cases[i].len, BASE, &d);
		ki_regset_format(d.use, use, sizeof(use));
		ki_regset_format(d.def, def, sizeof(def));
		if (strcmp(use, cases[i].use) != 0 || strcmp(def, cases[i].def) != 0)
			fail_msg("%02x %02x %02x: use %s def %s", cases[i].bytes[0],
				 cases[i].bytes[1], cases[i].bytes[2], use, def);
		assert_int_equal(d.in.len, d.in.kind == KI_INSN_BAD ? 1 : cases[i].len);
	}
}

static void sets(void **state)
{
	static const struct {
		ki_regset set;
		const char *text;
	} rows[] = {
		{0, "-"},
		{KI_REGSET_ALL, ALL},
		{KI_REGSET_UPPER(KI_RAX), "rax:16-63"},
		{KI_REGSET_UPPER(KI_RAX) | KI_REGSET_HIGH(KI_RAX), "ah, rax:16-63"},
		{KI_REGSET_LOW(KI_RSI) | KI_REGSET_LOW(KI_R9) | KI_REGSET_HIGH(KI_R9), "sil, r9w"},
		{KI_REGSET_HIGH(KI_R12) | KI_REGSET_OF, "r12:8-15, of"},
	};
	char buf[128], small[6];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		assert_ptr_equal(ki_regset_format(rows[i].set, buf, sizeof(buf)), buf);
		assert_string_equal(buf, rows[i].text);
	}
	assert_string_equal(ki_regset_format(KI_REGSET_ALL, small, sizeof(small)), "rax, ");
	assert_string_equal(ki_regset_format(KI_REGSET_ALL, small, 1), "");
}

/* What objdump 2.40 writes, but for spaces, and names for addresses. */
static const struct {
	uint8_t bytes[15], len;
	const char *intel, *att;
} texts[] = {
	{CODE(0x48, 0x89, 0xc3), "mov rbx, rax", "mov %rax,%rbx"},
	{CODE(0x48, 0x8b, 0x44, 0xcb, 0x10), "mov rax, [rbx+rcx*8+0x10]",
	 "mov 0x10(%rbx,%rcx,8),%rax"},
	{CODE(0xc7, 0x03, 1, 0, 0, 0), "mov dword ptr [rbx], 0x1", "movl $0x1,(%rbx)"},
	{CODE(0x48, 0x83, 0xe4, 0xf0), "and rsp, 0xfffffffffffffff0",
	 "and $0xfffffffffffffff0,%rsp"},
	{CODE(0x66, 0xff, 0x43, 8), "inc [rbx+0x8]", "incw 0x8(%rbx)"},
	{CODE(0x0f, 0xb6, 0x03), "movzx eax, byte ptr [rbx]", "movzbl (%rbx),%eax"},
	{CODE(0x48, 0x63, 0xc3), "movsxd rax, ebx", "movslq %ebx,%rax"},
	{CODE(0xd1, 0xe9), "shr ecx, 0x1", "shr %ecx"},
	{CODE(0xd3, 0x23), "shl dword ptr [rbx], cl", "shll %cl,(%rbx)"},
	{CODE(0x0f, 0x94, 0xc0), "sete al", "sete %al"},
	{CODE(0x48, 0x0f, 0x45, 0xc3), "cmovne rax, rbx", "cmovne %rbx,%rax"},
	{CODE(0x48, 0x98), "cdqe", "cltq"},
	{CODE(0x48, 0xb8, 1, 0, 0, 0, 0, 0, 0, 0x80), "mov rax, 0x8000000000000001",
	 "movabs $0x8000000000000001,%rax"},
	{CODE(0xff, 0xd0), "call rax", "call *%rax"},
	{CODE(0xff, 0x25, 0xfa, 0xff, 0xff, 0xff), "jmp [f]", "jmp *f"},
	{CODE(0xff, 0x63, 8), "jmp [rbx+0x8]", "jmp *0x8(%rbx)"},
	{CODE(0x65, 0x48, 0xff, 0x04, 0x25, 0x10, 0, 0, 0), "inc gs:[0x10]", "incq %gs:0x10"},
	{CODE(0xf0, 0x48, 0x0f, 0xb1, 0x0b), "lock cmpxchg [rbx], rcx", "lock cmpxchg %rcx,(%rbx)"},
	{CODE(0x48, 0x8d, 0x05, 1, 0, 0, 0), "lea rax, [f+0x8]", "lea f+0x8,%rax"},
	{CODE(0x48, 0x8b, 0x05, 0, 1, 0, 0), "mov rax, [0xffffffff81000107]",
	 "mov 0xffffffff81000107,%rax"},
	{CODE(0xe8, 3, 0, 0, 0), "call f+0x8", "call f+0x8"},
	{CODE(0x74, 0xfe), "je f", "je f"},
	{CODE(0x06), "(bad) 0x06", "(bad) 0x06"},
};

static void syntaxes(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		struct text x = {.m = {.kind = KI_TARGET_LIVE}};
		uint8_t bytes[16];
		char buf[128];

		memset(bytes, 0xcc, sizeof(bytes));
		memcpy(bytes, texts[i].bytes, texts[i].len);
		x.m.bytes = bytes;
		x.m.len = sizeof(bytes);
		open_text(&x);
		look_at(&x, "f");
		ki_insn_format(x.fn, at(&x, 0), buf, sizeof(buf));
		assert_string_equal(buf, texts[i].intel);
		ki_insn_format_as(x.fn, at(&x, 0), NULL, KI_SYNTAX_ATT, buf, sizeof(buf));
		assert_string_equal(buf, texts[i].att);
		/* Other bytes of the same length stand there now. */
		memset(bytes, 0x90, sizeof(bytes));
		ki_insn_format_as(x.fn, at(&x, 0), bytes, KI_SYNTAX_ATT, buf, sizeof(buf));
		assert_string_equal(buf, "nop");
		ki_insn_format_as(x.fn, at(&x, 0), bytes, KI_SYNTAX_ATT, buf, 2);
		assert_string_equal(buf, "n");
		close_text(&x);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(use_and_def),
		cmocka_unit_test(sets),
		cmocka_unit_test(syntaxes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
