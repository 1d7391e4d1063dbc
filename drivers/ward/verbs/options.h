/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Options of a link. `rdma link add` passes none, so they are files of the device,
 * /sys/class/infiniband/<device>/options/<name>, which root may write at any time. Their first
 * values are those of the module parameters of the same names.
 *
 * One list drives all of it. An option is a number, or one of a few words.
 */
#ifndef _WARD_VERBS_OPTIONS_H
#define _WARD_VERBS_OPTIONS_H

#include <linux/compiler.h>
#include <linux/types.h>

struct attribute_group;
struct seq_file;
struct ward_device;

/* How to reach a QP of this host */
enum {
	WARD_PATH_PACKET,	/* always by packets */
	WARD_PATH_AUTO,		/* from memory to memory in the same namespace, where nothing sees it */
	WARD_PATH_ACROSS,	/* in other namespaces too, where nothing at either end sees it */
};

#define WARD_PATH_WORDS	((const char *const []){ "packet", "auto", "across" })

/* X(enum name, name, first value, smallest, largest, words or NULL, meaning) */
#define WARD_OPTIONS(X) \
	X(PATH, path, WARD_PATH_AUTO, 0, 2, WARD_PATH_WORDS, \
	  "to QPs of this host: from memory to memory within a namespace (auto), also between " \
	  "namespaces (across), or as packets (packet)") \
	X(MAX_TRAIN, max_train, 64, 1, 64, NULL, \
	  "packets that go through the stack together at most") \
	X(WINDOW, window, 256, 16, 1024, NULL, \
	  "KiB that a QP has under way at most; never more than 256 packets") \
	X(STRICT, strict, 0, 0, 1, off_on, \
	  "what REG_MR registers is reachable through the same QP only") \
	X(FENCE_ON_ERROR, fence_on_error, 0, 0, 1, off_on, \
	  "a QP that goes to ERR invalidates what was registered through it")

enum ward_option {
#define X(id, name, first, min, max, words, text) WARD_OPT_##id,
	WARD_OPTIONS(X)
#undef X
	WARD_OPT_MAX
};

struct ward_options {
	u32	v[WARD_OPT_MAX];
};

/* ward_option() - the value of an option now: a number, or the index of a word. Any context. */
#define ward_option(dev, id)	READ_ONCE((dev)->options.v[WARD_OPT_##id])

void ward_options_init(struct ward_device *dev);
void ward_options_show(struct seq_file *s, const struct ward_device *dev);

extern const struct attribute_group ward_options_group;

#endif /* _WARD_VERBS_OPTIONS_H */
