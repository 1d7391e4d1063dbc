/* SPDX-License-Identifier: GPL-2.0 */
/* The version of ward. dkms.conf has it, too. */
#ifndef _WARD_VERSION_H
#define _WARD_VERSION_H

#include <linux/stringify.h>

#define WARD_VERSION_MAJOR	0
#define WARD_VERSION_MINOR	1
#define WARD_VERSION_PATCH	0

#define WARD_VERSION	__stringify(WARD_VERSION_MAJOR) "." \
			__stringify(WARD_VERSION_MINOR) "." \
			__stringify(WARD_VERSION_PATCH)

#endif /* _WARD_VERSION_H */
