/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Kernel versions.
 */
#ifndef _BENCH_COMPAT_H
#define _BENCH_COMPAT_H

#include <linux/version.h>

/* kernel_bind() and kernel_connect(): struct sockaddr_unsized since 6.19 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 19, 0)
#define bench_sockaddr	sockaddr_unsized
#else
#define bench_sockaddr	sockaddr
#endif

#endif /* _BENCH_COMPAT_H */
