/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel's own routine, which only ARCH=x86 builds.
 */
#ifndef RET
#define RET	ret
#endif
#include "arch/x86/crypto/crc32-pclmul_asm.S"

	.section .note.GNU-stack, "", @progbits
