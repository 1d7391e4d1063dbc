// SPDX-License-Identifier: GPL-2.0
/*
 * See watch.h.
 */
#include <linux/seq_file.h>
#include <linux/string.h>
#include <linux/uio.h>
#include "watch.h"

#define MAX_TEXT	(256 * 1024)
/* So small that tables come in several reads */
#define PIECE		1024

/* All that is in a file, as a program gets it that reads piece by piece. */
char *watch_read(struct kunit *test, const struct file_operations *fops, void *private)
{
	struct inode *inode = kunit_kzalloc(test, sizeof(*inode), GFP_KERNEL);
	struct file *file = kunit_kzalloc(test, sizeof(*file), GFP_KERNEL);
	char *text = kvzalloc(MAX_TEXT, GFP_KERNEL), *copy;
	size_t len = 0;
	ssize_t n;

	KUNIT_ASSERT_TRUE(test, inode && file && text);
	inode->i_private = private;
	file->f_mode = FMODE_READ;
	KUNIT_ASSERT_EQ(test, fops->open(inode, file), 0);
	do {
		struct kvec piece = { text + len, PIECE };
		struct iov_iter to;
		struct kiocb iocb = { .ki_filp = file, .ki_pos = len };

		iov_iter_kvec(&to, ITER_DEST, &piece, 1, PIECE);
		n = seq_read_iter(&iocb, &to);
		len += max(n, 0);
	} while (n > 0 && len + PIECE < MAX_TEXT);
	KUNIT_EXPECT_EQ(test, fops->release(inode, file), 0);
	KUNIT_EXPECT_EQ(test, n, 0);
	copy = kunit_kmalloc(test, len + 1, GFP_KERNEL);
	if (copy)
		memcpy(copy, text, len + 1);
	kvfree(text);
	KUNIT_ASSERT_NOT_NULL(test, copy);
	return copy;
}

static char *copy_until(struct kunit *test, const char *from, const char *end)
{
	size_t len = strcspn(from, end);
	char *copy = kunit_kzalloc(test, len + 1, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, copy);
	memcpy(copy, from, len);
	return copy;
}

/* The line whose first column is @first, or NULL. */
char *watch_line(struct kunit *test, const char *text, const char *first)
{
	size_t len = strlen(first);

	while (text && *text) {
		if (!strncmp(text, first, len) && strchr(" \t\n", text[len]))
			return copy_until(test, text, "\n");
		text = strchr(text, '\n');
		text = text ? text + 1 : NULL;
	}
	return NULL;
}

static const char *next_column(const char *line)
{
	line += strcspn(line, " ");
	return line + strspn(line, " ");
}

/* What stands in @line below the heading @name; a missing heading fails the test. */
char *watch_column(struct kunit *test, const char *text, const char *line, const char *name)
{
	const char *heading = next_column(copy_until(test, text, "\n"));
	size_t len = strlen(name);

	KUNIT_ASSERT_EQ(test, text[0], '#');
	KUNIT_ASSERT_NOT_NULL(test, line);
	while (*heading) {
		if (!strncmp(heading, name, len) && (!heading[len] || heading[len] == ' '))
			return copy_until(test, line, " ");
		heading = next_column(heading);
		line = next_column(line);
	}
	KUNIT_FAIL(test, "no column %s", name);
	return copy_until(test, "", "");
}

/* The value of a fact. */
char *watch_fact(struct kunit *test, const char *text, const char *name)
{
	size_t len = strlen(name);

	while (text && *text) {
		if (!strncmp(text, name, len) && text[len] == '\t')
			return copy_until(test, text + len + 1, "\n");
		text = strchr(text, '\n');
		text = text ? text + 1 : NULL;
	}
	KUNIT_FAIL(test, "no fact %s", name);
	return copy_until(test, "", "");
}
