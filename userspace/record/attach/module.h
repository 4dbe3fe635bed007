/* SPDX-License-Identifier: GPL-2.0 */
/* Talking to klin.ko through debugfs. */
#ifndef KL_RECORD_ATTACH_MODULE_H
#define KL_RECORD_ATTACH_MODULE_H

#include <stdbool.h>
#include <stddef.h>

#define KL_MODULE_DIR "/sys/kernel/debug/klin/"

/* Write @text to a file of klin.ko; negative errno without a message. */
int kl_module_write(const char *file, const char *text);

/**
 * kl_module_value() - read a value of a file of lines key=value
 * @file: the file, such as status
 * @key: the key
 * @value: gets the value; empty if it is not there
 * @size: bytes at @value
 *
 * Return: true if it is there.
 */
bool kl_module_value(const char *file, const char *key, char *value, size_t size);

/**
 * kl_module_refused() - say why klin.ko did not take a setting
 * @what: the setting
 * @err: what kl_module_write() returned
 *
 * Return: -EBUSY, -EPERM or -EINVAL.
 */
int kl_module_refused(const char *what, int err);

#endif
