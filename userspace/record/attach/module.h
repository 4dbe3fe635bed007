/* SPDX-License-Identifier: GPL-2.0 */
/* Reads and writes klin.ko's files in debugfs. */
#ifndef KL_RECORD_ATTACH_MODULE_H
#define KL_RECORD_ATTACH_MODULE_H

#include <stdbool.h>
#include <stddef.h>

#define KL_MODULE_DIR "/sys/kernel/debug/klin/"

/* Write @text to a file of klin.ko.  Return: 0, or a negative errno without a message. */
int kl_module_write(const char *file, const char *text);

/**
 * kl_module_value() - read a value from a file with lines KEY=VALUE
 * @file: name of the file, such as "status"
 * @key: the key
 * @value: gets the value, or "" if there is none
 * @size: bytes at @value
 *
 * Return: true if the file has the key.
 */
bool kl_module_value(const char *file, const char *key, char *value, size_t size);

/**
 * kl_module_refused() - print a message why klin.ko refused a setting
 * @what: the setting
 * @err: result of kl_module_write()
 *
 * Return: -EBUSY, -EPERM or -EINVAL.
 */
int kl_module_refused(const char *what, int err);

#endif
