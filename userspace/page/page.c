// SPDX-License-Identifier: GPL-2.0
/* Write a page, see page.h. */
#include <errno.h>
#include <nettle/base64.h>
#include <nettle/sha2.h>
#include <stdlib.h>
#include <string.h>

#include "page/choose.h"
#include "page/columns.h"
#include "page/page.h"
#include "page/texts.h"
#include "report/json.h"
#include "report/others.h"

#define MOST_OTHERS 2000 /* entries of no operation, and failed operations */

/* Write a part of a JSON text, so that no value in it can end the element that holds it. */
static int put_json(const char *text, size_t len, void *f)
{
	size_t i, from = 0;

	for (i = 0; i < len; i++) {
		if (text[i] != '<')
			continue;
		fwrite(text + from, 1, i - from, f);
		fputs("\\u003c", f);
		from = i + 1;
	}
	fwrite(text + from, 1, len - from, f);
	return 0;
}

static void put_title(FILE *f, const char *title)
{
	for (; *title; title++)
		if (*title > ' ' && *title < 0x7f && !strchr("<>&\"'", *title))
			fputc(*title, f);
		else
			fputc(*title == ' ' ? ' ' : '_', f);
}

/* Write the hash of a script or style, by which the page's policy allows it. */
static void put_hash(FILE *f, const char *text)
{
	char hash[BASE64_ENCODE_RAW_LENGTH(SHA256_DIGEST_SIZE) + 1] = "";
	uint8_t digest[SHA256_DIGEST_SIZE];
	struct sha256_ctx ctx;

	sha256_init(&ctx);
	sha256_update(&ctx, strlen(text), (const uint8_t *)text);
	sha256_digest(&ctx, sizeof(digest), digest);
	base64_encode_raw(hash, sizeof(digest), digest);
	fprintf(f, "'sha256-%s'", hash);
}

static void set_text(json_t *j, const char *name, const char *text)
{
	if (text)
		json_object_set_new(j, name, kl_json_text(text));
}

static json_t *make_data(const struct kl_page *p)
{
	json_t *j = json_object();
	json_t *history, *texts;
	bool *kept = NULL;

	set_text(j, "title", p->title);
	set_text(j, "source", p->source);
	set_text(j, "command", p->command);
	set_text(j, "note", p->note);
	if (p->result)
		json_object_set(j, "result", p->result);
	if (p->found)
		json_object_set(j, "found", p->found);
	if (p->sources)
		json_object_set(j, "sources", p->sources);
	if (p->h) {
		if (kl_page_choose(p->h, p->r, p->result, p->found, p->most, &kept)) {
			kl_json_no_memory();
			return kl_json_whole(j);
		}
		history = kl_page_columns(p->h, p->r, kept);
		texts = kl_page_texts(p, kept);
		if (texts)
			json_object_set_new(history, "texts", texts);
		if (history)
			kl_add_others(history, p->h, MOST_OTHERS);
		json_object_set_new(j, "history", history);
	}
	free(kept);
	return kl_json_whole(j);
}

/* Replace @NAME@ in the page's text. */
static int put_part(FILE *f, const char *name, size_t len, const struct kl_page *p, json_t *data)
{
	static const struct { const char *name, *text; } files[] = {
		{ "STYLE", kl_page_style }, { "SCRIPT", kl_page_script },
	};
	size_t i;

	for (i = 0; i < 2; i++) {
		if (len == strlen(files[i].name) && !strncmp(name, files[i].name, len))
			fputs(files[i].text, f);
		if (len == strlen(files[i].name) + 5 && !strncmp(name, files[i].name, len - 5))
			put_hash(f, files[i].text);
	}
	if (len == 5 && !strncmp(name, "TITLE", len))
		put_title(f, p->title);
	if (len == 4 && !strncmp(name, "DATA", len))
		return json_dump_callback(data, put_json, f, JSON_COMPACT | JSON_ENSURE_ASCII);
	return 0;
}

int kl_page_write(FILE *f, const struct kl_page *p)
{
	json_t *data = make_data(p);
	const char *at = kl_page_html, *begin, *end;
	int failed = 0;

	if (!data)
		return -ENOMEM;
	while ((begin = strchr(at, '@')) && (end = strchr(begin + 1, '@'))) {
		fwrite(at, 1, begin - at, f);
		failed |= put_part(f, begin + 1, end - begin - 1, p, data);
		at = end + 1;
	}
	fputs(at, f);
	json_decref(data);
	/* Memory may also have been missing for the text; kl_json_whole() resets the note. */
	if (!kl_json_whole(json_null()) || failed)
		return -ENOMEM;
	return 0;
}
