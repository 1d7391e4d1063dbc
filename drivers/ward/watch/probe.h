/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Would an access pass? Asked of the same judge as every packet, without any effect.
 *
 * Root writes a question to /sys/kernel/debug/ward/<device>/probe and reads the answer there:
 *
 *	qp=NUMBER key=NUMBER right=RIGHT [va=ADDRESS] [len=BYTES]
 *
 * RIGHT is read, write or atomic, of the peer of that QP; local-read or local-write, of its send
 * work requests; or receive. Without va= it is the first byte of the registration, without len=
 * one byte (8 of an atomic). The answer is "granted" or "refused", the rule that says so, and why.
 */
#ifndef _WARD_WATCH_PROBE_H
#define _WARD_WATCH_PROBE_H

#include <linux/types.h>

struct ward_device;

/**
 * struct ward_probe - a question
 * @qpn:    QP on the device
 * @key:    lkey or R_key
 * @right:  WARD_PROBE_*
 * @has_va: @va is given; else it is where the registration begins
 * @va:     first address
 * @len:    bytes
 */
struct ward_probe {
	u32	qpn;
	u32	key;
	u32	right;
	bool	has_va;
	u64	va;
	u64	len;
};

enum {
	WARD_PROBE_NONE,
	WARD_PROBE_READ,
	WARD_PROBE_WRITE,
	WARD_PROBE_ATOMIC,
	WARD_PROBE_LOCAL_READ,
	WARD_PROBE_LOCAL_WRITE,
	WARD_PROBE_RECEIVE,
};

/* An answer: @rule is that of Documentation/fences.rst */
struct ward_probed {
	bool		granted;
	const char	*rule;
	const char	*why;
};

struct ward_probed ward_probe(struct ward_device *dev, const struct ward_probe *probe);
void ward_probe_show_in(struct ward_device *dev);

#endif /* _WARD_WATCH_PROBE_H */
