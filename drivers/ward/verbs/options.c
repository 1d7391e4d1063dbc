// SPDX-License-Identifier: GPL-2.0
/*
 * Options of a link: one table, module parameters in front of it, sysfs files behind it.
 */
#include <linux/device.h>
#include <linux/kstrtox.h>
#include <linux/moduleparam.h>
#include <linux/seq_file.h>
#include <linux/string.h>
#include <linux/sysfs.h>
#include <rdma/ib_verbs.h>

#include "device.h"
#include "options.h"

static const char *const off_on[] = { "off", "on" };

static const struct option {
	const char		*name;
	u32			min;
	u32			max;
	const char *const	*words;
} table[] = {
#define X(id, _name, first, _min, _max, _words, text) \
	[WARD_OPT_##id] = { .name = #_name, .min = _min, .max = _max, .words = _words },
	WARD_OPTIONS(X)
#undef X
};

static u32 defaults[] = {
#define X(id, name, first, min, max, words, text) [WARD_OPT_##id] = first,
	WARD_OPTIONS(X)
#undef X
};

/* Return: 0 or -EINVAL, with a line in the log that names what is allowed */
static int parse(const struct option *opt, const char *text, u32 *value)
{
	char buf[32];
	u32 i;

	if (strscpy(buf, text, sizeof(buf)) < 0)
		goto invalid;
	text = strim(buf);
	if (opt->words) {
		for (i = opt->min; i <= opt->max; i++) {
			if (strcmp(text, opt->words[i]))
				continue;
			*value = i;
			return 0;
		}
	} else if (!kstrtou32(text, 0, &i) && i >= opt->min && i <= opt->max) {
		*value = i;
		return 0;
	}
invalid:
	if (opt->words)
		pr_err("option %s: not one of the words that its file is shown with\n", opt->name);
	else
		pr_err("option %s: not a number from %u to %u\n", opt->name, opt->min, opt->max);
	return -EINVAL;
}

static int print(const struct option *opt, u32 value, char *to, size_t size)
{
	if (opt->words)
		return scnprintf(to, size, "%s\n", opt->words[value]);
	return scnprintf(to, size, "%u\n", value);
}

static int set_param(const char *text, const struct kernel_param *kp)
{
	u32 *to = kp->arg, value;
	int err = parse(&table[to - defaults], text, &value);

	if (!err)
		WRITE_ONCE(*to, value);
	return err;
}

static int get_param(char *to, const struct kernel_param *kp)
{
	u32 *from = kp->arg;

	return print(&table[from - defaults], READ_ONCE(*from), to, PAGE_SIZE);
}

static const struct kernel_param_ops param_ops = {
	.set = set_param,
	.get = get_param,
};

#define X(id, name, first, min, max, words, text) \
	module_param_cb(name, &param_ops, &defaults[WARD_OPT_##id], 0644); \
	MODULE_PARM_DESC(name, "for links that are added from now on: " text);
WARD_OPTIONS(X)
#undef X

struct option_attribute {
	struct device_attribute	attr;
	enum ward_option	id;
};

static struct ward_device *device_of(struct device *device)
{
	return to_ward(rdma_device_to_ibdev(device));
}

static ssize_t show(struct device *device, struct device_attribute *attr, char *to)
{
	enum ward_option id = container_of(attr, struct option_attribute, attr)->id;

	return print(&table[id], READ_ONCE(device_of(device)->options.v[id]), to, PAGE_SIZE);
}

static ssize_t store(struct device *device, struct device_attribute *attr, const char *text,
		     size_t len)
{
	enum ward_option id = container_of(attr, struct option_attribute, attr)->id;
	u32 value;
	int err = parse(&table[id], text, &value);

	if (err)
		return err;
	WRITE_ONCE(device_of(device)->options.v[id], value);
	return len;
}

static struct option_attribute attributes[] = {
#define X(_id, name, first, min, max, words, text) \
	{ __ATTR(name, 0644, show, store), .id = WARD_OPT_##_id },
	WARD_OPTIONS(X)
#undef X
};

static struct attribute *pointers[] = {
#define X(id, name, first, min, max, words, text) &attributes[WARD_OPT_##id].attr.attr,
	WARD_OPTIONS(X)
#undef X
	NULL
};

/* In ib_device_ops.device_group: the core makes the files before anybody is told of the device */
const struct attribute_group ward_options_group = {
	.name = "options",
	.attrs = pointers,
};

/**
 * ward_options_init() - give a device the options that the module parameters say
 * @dev: the device, not registered yet
 */
void ward_options_init(struct ward_device *dev)
{
	int id;

	for (id = 0; id < WARD_OPT_MAX; id++)
		dev->options.v[id] = READ_ONCE(defaults[id]);
}

/**
 * ward_options_show() - a line for each option and its value
 * @s:   to this file
 * @dev: of this device
 */
void ward_options_show(struct seq_file *s, const struct ward_device *dev)
{
	char value[32];
	int id;

	for (id = 0; id < WARD_OPT_MAX; id++) {
		print(&table[id], READ_ONCE(dev->options.v[id]), value, sizeof(value));
		seq_printf(s, "option %s\t%s", table[id].name, value);
	}
}
