/* SPDX-License-Identifier: GPL-2.0 */
/* What the kernel's header of this name has over that of user space. */
#ifndef _UNIT_LINUX_TYPES_H
#define _UNIT_LINUX_TYPES_H

#include_next <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef __u64 u64;
typedef int8_t s8;
typedef int16_t s16;
typedef int32_t s32;
typedef __s64 s64;

#define U32_MAX		UINT32_MAX
#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

#endif
