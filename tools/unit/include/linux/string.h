/* SPDX-License-Identifier: GPL-2.0 */
/* The C library has all of it that is wanted. */
#include <string.h>
