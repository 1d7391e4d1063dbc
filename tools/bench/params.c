// SPDX-License-Identifier: GPL-2.0
/*
 * Reads "op=write a=ward0 size=65536 ...".
 */
#include <linux/kernel.h>
#include <linux/string.h>
#include "bench.h"

static const struct bench_params defaults = {
	.poll = "softirq", .size = 65536, .qps = 1, .depth = 16, .ms = 1000, .mtu = 4096,
	.pages = 16, .mrs = 0, .count = 1000, .timeout = 14,
};

#define TEXT(name) { #name, offsetof(struct bench_params, name), true }
#define NUMBER(name) { #name, offsetof(struct bench_params, name), false }

static const struct {
	const char *key;
	size_t offset;
	bool text;
} keys[] = {
	TEXT(op), TEXT(a), TEXT(b), TEXT(poll), TEXT(path),
	NUMBER(size), NUMBER(qps), NUMBER(depth), NUMBER(ms), NUMBER(mtu), NUMBER(pages),
	NUMBER(mrs), NUMBER(cqe), NUMBER(count), NUMBER(timeout), NUMBER(cm), NUMBER(ipv6),
	NUMBER(global),
};

static int set(struct bench_params *params, const char *key, const char *value)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(keys); i++) {
		void *field = (void *)params + keys[i].offset;

		if (strcmp(key, keys[i].key))
			continue;
		if (!keys[i].text)
			return kstrtou32(value, 0, field);
		return strscpy(field, value, BENCH_NAME) < 0 ? -EINVAL : 0;
	}
	return -EINVAL;
}

/**
 * bench_params_parse - reads the line of a measurement
 * @params: to be filled in
 * @line:   key=value pairs with spaces between, is changed
 *
 * Return: 0 or -EINVAL
 */
int bench_params_parse(struct bench_params *params, char *line)
{
	char *pair, *value;
	int err;

	*params = defaults;
	while ((pair = strsep(&line, " \t\n"))) {
		if (!*pair)
			continue;
		value = strchr(pair, '=');
		if (!value)
			return -EINVAL;
		*value++ = 0;
		err = set(params, pair, value);
		if (err)
			return err;
	}
	if (!*params->b)
		strscpy(params->b, params->a, BENCH_NAME);
	if (!params->mrs)
		params->mrs = params->depth;
	/* what an operation multiplies with each other stays below 2^32 */
	if (!params->depth || params->depth > 4096 || !params->qps || params->qps > 65536 ||
	    !params->mtu || params->ms > 600000 || params->size > 1 << 30 || !params->pages ||
	    params->pages > 512 || params->mrs < params->depth || params->cqe > 1 << 22 ||
	    params->timeout > 31)
		return -EINVAL;
	return 0;
}
