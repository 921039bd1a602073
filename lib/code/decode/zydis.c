/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "code/decode/zydis.h"

#include <pthread.h>

static ZydisDecoder decoder, length_decoder;
static uint8_t classes[ZYDIS_MNEMONIC_MAX_VALUE + 1];
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Instructions that change the machine's state, or whose own address means something. */
static const ZydisMnemonic privileged_list[] = {
	ZYDIS_MNEMONIC_HLT,	 ZYDIS_MNEMONIC_MONITOR,  ZYDIS_MNEMONIC_MONITORX,
	ZYDIS_MNEMONIC_MWAIT,	 ZYDIS_MNEMONIC_MWAITX,	  ZYDIS_MNEMONIC_IRET,
	ZYDIS_MNEMONIC_IRETD,	 ZYDIS_MNEMONIC_IRETQ,	  ZYDIS_MNEMONIC_UIRET,
	ZYDIS_MNEMONIC_SYSRET,	 ZYDIS_MNEMONIC_SYSEXIT,  ZYDIS_MNEMONIC_SYSCALL,
	ZYDIS_MNEMONIC_SYSENTER, ZYDIS_MNEMONIC_SWAPGS,	  ZYDIS_MNEMONIC_INT,
	ZYDIS_MNEMONIC_INT1,	 ZYDIS_MNEMONIC_INTO,	  ZYDIS_MNEMONIC_LGDT,
	ZYDIS_MNEMONIC_LIDT,	 ZYDIS_MNEMONIC_LTR,	  ZYDIS_MNEMONIC_LLDT,
	ZYDIS_MNEMONIC_LMSW,	 ZYDIS_MNEMONIC_LSS,	  ZYDIS_MNEMONIC_CLTS,
	ZYDIS_MNEMONIC_WBINVD,	 ZYDIS_MNEMONIC_INVD,	  ZYDIS_MNEMONIC_VMCALL,
	ZYDIS_MNEMONIC_VMCLEAR,	 ZYDIS_MNEMONIC_VMFUNC,	  ZYDIS_MNEMONIC_VMLAUNCH,
	ZYDIS_MNEMONIC_VMLOAD,	 ZYDIS_MNEMONIC_VMMCALL,  ZYDIS_MNEMONIC_VMPTRLD,
	ZYDIS_MNEMONIC_VMPTRST,	 ZYDIS_MNEMONIC_VMREAD,	  ZYDIS_MNEMONIC_VMRESUME,
	ZYDIS_MNEMONIC_VMRUN,	 ZYDIS_MNEMONIC_VMSAVE,	  ZYDIS_MNEMONIC_VMWRITE,
	ZYDIS_MNEMONIC_VMXOFF,	 ZYDIS_MNEMONIC_VMXON,	  ZYDIS_MNEMONIC_RSM,
	ZYDIS_MNEMONIC_CLGI,	 ZYDIS_MNEMONIC_STGI,	  ZYDIS_MNEMONIC_SKINIT,
	ZYDIS_MNEMONIC_GETSEC,	 ZYDIS_MNEMONIC_ENCLS,	  ZYDIS_MNEMONIC_ENCLU,
	ZYDIS_MNEMONIC_ENCLV,	 ZYDIS_MNEMONIC_SEAMCALL, ZYDIS_MNEMONIC_SEAMOPS,
	ZYDIS_MNEMONIC_SEAMRET,	 ZYDIS_MNEMONIC_TDCALL,	  ZYDIS_MNEMONIC_XBEGIN,
	ZYDIS_MNEMONIC_MCOMMIT,
};

/* Besides those above: traps, whose handlers may show or use whatever they find, what leaves a
   transaction, ports, after which a hypervisor may look at all registers (VMware's does), and the
   engines of VIA, whose registers nobody else has. */
static const ZydisMnemonic exposing_list[] = {
	ZYDIS_MNEMONIC_UD0,	   ZYDIS_MNEMONIC_UD1,	      ZYDIS_MNEMONIC_UD2,
	ZYDIS_MNEMONIC_INT3,	   ZYDIS_MNEMONIC_XABORT,     ZYDIS_MNEMONIC_XSTORE,
	ZYDIS_MNEMONIC_XCRYPT_CBC, ZYDIS_MNEMONIC_XCRYPT_CFB, ZYDIS_MNEMONIC_XCRYPT_CTR,
	ZYDIS_MNEMONIC_XCRYPT_ECB, ZYDIS_MNEMONIC_XCRYPT_OFB, ZYDIS_MNEMONIC_XSHA1,
	ZYDIS_MNEMONIC_XSHA256,	   ZYDIS_MNEMONIC_MONTMUL,    ZYDIS_MNEMONIC_IN,
	ZYDIS_MNEMONIC_OUT,	   ZYDIS_MNEMONIC_INSB,	      ZYDIS_MNEMONIC_INSW,
	ZYDIS_MNEMONIC_INSD,	   ZYDIS_MNEMONIC_OUTSB,      ZYDIS_MNEMONIC_OUTSW,
	ZYDIS_MNEMONIC_OUTSD,
};

/* The selectors and the machine word are emulated for programs, 16 bits wide; the shadow stack's
   pointer is only read where there is one. */
static const ZydisMnemonic may_write_list[] = {
	ZYDIS_MNEMONIC_SLDT,	ZYDIS_MNEMONIC_STR,	ZYDIS_MNEMONIC_SMSW,
	ZYDIS_MNEMONIC_RDSSPD,	ZYDIS_MNEMONIC_RDSSPQ,	ZYDIS_MNEMONIC_BSF,
	ZYDIS_MNEMONIC_BSR,	ZYDIS_MNEMONIC_LAR,	ZYDIS_MNEMONIC_LSL,
	ZYDIS_MNEMONIC_CMOVB,	ZYDIS_MNEMONIC_CMOVBE,	ZYDIS_MNEMONIC_CMOVL,
	ZYDIS_MNEMONIC_CMOVLE,	ZYDIS_MNEMONIC_CMOVNB,	ZYDIS_MNEMONIC_CMOVNZ,
	ZYDIS_MNEMONIC_CMOVNBE, ZYDIS_MNEMONIC_CMOVNL,	ZYDIS_MNEMONIC_CMOVNO,
	ZYDIS_MNEMONIC_CMOVNLE, ZYDIS_MNEMONIC_CMOVNP,	ZYDIS_MNEMONIC_CMOVNS,
	ZYDIS_MNEMONIC_CMOVO,	ZYDIS_MNEMONIC_CMOVP,	ZYDIS_MNEMONIC_CMOVS,
	ZYDIS_MNEMONIC_CMOVZ,	ZYDIS_MNEMONIC_CMPXCHG,
};

/* The long nops name registers and memory, and look at neither. */
static const ZydisMnemonic idle_list[] = {
	ZYDIS_MNEMONIC_NOP,
	ZYDIS_MNEMONIC_ENDBR64,
};

/* Flags that are cleared go unmentioned. */
static const ZydisMnemonic all_flags_list[] = {
	ZYDIS_MNEMONIC_VPTEST,
	ZYDIS_MNEMONIC_VTESTPS,
	ZYDIS_MNEMONIC_VTESTPD,
};

static const struct {
	const ZydisMnemonic *list;
	size_t n;
	uint8_t bits;
} lists[] = {
#define LIST(l) l, sizeof(l) / sizeof(*(l))
	{LIST(privileged_list), KI_ZYDIS_PRIVILEGED | KI_ZYDIS_EXPOSES},
	{LIST(exposing_list), KI_ZYDIS_EXPOSES},
	{LIST(may_write_list), KI_ZYDIS_MAY_WRITE},
	{LIST(idle_list), KI_ZYDIS_IDLE},
	{LIST(all_flags_list), KI_ZYDIS_ALL_FLAGS},
#undef LIST
};

static void init(void)
{
	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++)
		for (size_t k = 0; k < lists[i].n; k++)
			classes[lists[i].list[k]] |= lists[i].bits;
	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	ZydisDecoderEnableMode(&decoder, ZYDIS_DECODER_MODE_KNC, ZYAN_FALSE);
	ZydisDecoderEnableMode(&decoder, ZYDIS_DECODER_MODE_MPX, ZYAN_FALSE);
	length_decoder = decoder;
	ZydisDecoderEnableMode(&length_decoder, ZYDIS_DECODER_MODE_MINIMAL, ZYAN_TRUE);
}

const ZydisDecoder *ki_zydis_decoder(void)
{
	pthread_once(&once, init);
	return &decoder;
}

const ZydisDecoder *ki_zydis_length_decoder(void)
{
	pthread_once(&once, init);
	return &length_decoder;
}

uint8_t ki_zydis_class(ZydisMnemonic m)
{
	return classes[m];
}
