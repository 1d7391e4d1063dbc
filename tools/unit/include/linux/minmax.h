/* SPDX-License-Identifier: GPL-2.0 */
/* min and max of two numbers of the same type. */
#ifndef _UNIT_LINUX_MINMAX_H
#define _UNIT_LINUX_MINMAX_H

#define min(a, b)				\
	({					\
		const typeof(a) a_ = (a);	\
		const typeof(b) b_ = (b);	\
						\
		a_ < b_ ? a_ : b_;		\
	})

#define max(a, b)				\
	({					\
		const typeof(a) a_ = (a);	\
		const typeof(b) b_ = (b);	\
						\
		a_ > b_ ? a_ : b_;		\
	})

#endif
