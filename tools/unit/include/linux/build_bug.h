/* SPDX-License-Identifier: GPL-2.0 */
/* static_assert, whose message is optional. */
#ifndef _UNIT_LINUX_BUILD_BUG_H
#define _UNIT_LINUX_BUILD_BUG_H

#define static_assert(expr, ...)	_Static_assert(expr, "" __VA_ARGS__)

#endif
