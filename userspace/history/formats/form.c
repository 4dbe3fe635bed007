// SPDX-License-Identifier: GPL-2.0
/* Recognizes the form of a history, and registers klin's packed form; see form.h. */
#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/text.h"
#include "history/formats/form.h"
#include "history/internal.h"
#include "history/klh.h"
#include "history/source.h"

static bool is_klh(const struct kl_head *head)
{
	return kl_klh_is(head->first, head->end - head->first);
}

static int read_klh(struct kl_input *in, struct kl_history **out)
{
	const char *data;
	size_t len;
	int ret;

	ret = kl_input_all(in, &data, &len);
	return ret ? ret : kl_klh_read(in->name, data, len, out);
}

const struct kl_form kl_form_klh = {
	.name = "klh", .rank = 10,
	.help = "klin's own: recordings, packed",
	.binary = true, .is = is_klh, .read = read_klh, .tso = true,
};
KL_FORM(kl_form_klh);

static bool line_end(const struct kl_head *head, const char *p)
{
	return p == head->end || *p == '\n';
}

size_t kl_head_word(const struct kl_head *head, const char **pp)
{
	const char *p = *pp, *start;

	while (p < head->end && kl_scan_blank(*p))
		p++;
	for (start = p; !line_end(head, p) && !kl_scan_blank(*p); p++)
		;
	*pp = start;
	return p - start;
}

bool kl_head_is(const struct kl_head *head, const char **pp, const char *word)
{
	const char *p = *pp;
	size_t len = kl_head_word(head, &p);

	if (len != strlen(word) || memcmp(p, word, len))
		return false;
	*pp = p + len;
	return true;
}

/* Find the first line from @p on that is not empty and, unless @comments, is no comment. */
static const char *find_line(const struct kl_head *head, const char *p, bool comments)
{
	while (p < head->end) {
		while (p < head->end && (kl_scan_blank(*p) || *p == '\n'))
			p++;
		if (p == head->end || comments || (*p != '#' && *p != ';'))
			break;
		p = memchr(p, '\n', head->end - p);
		if (!p)
			return head->end;
	}
	return p;
}

const struct kl_form *kl_form_tell(const char *data, size_t len)
{
	struct kl_head head = { .end = data + len };
	const struct kl_form *const *f;

	head.first = find_line(&head, data, true);
	head.data = find_line(&head, head.first, false);
	for (f = kl_forms(); *f; f++)
		if ((*f)->is(&head))
			return *f;
	return head.data == head.end ? &kl_form_text : NULL;
}

void kl_start_add(struct kl_start *s, const char *data, size_t len)
{
	size_t n = sizeof(s->text) - s->len, i;

	for (i = 0; i < len && !s->more; i++)
		s->more = !kl_scan_blank(data[i]) && data[i] != '\n';
	n = len < n ? len : n;
	if (n)
		memcpy(s->text + s->len, data, n);
	s->len += n;
}

/*
 * Return: true if the history has header lines that only recordings have, and counterexamples made
 * from recordings.  A single one may be prose, as `# release 2.3' or `# attached by a kprobe'.
 */
static bool is_recording(const struct kl_history *h)
{
	return (h->release && h->attached) || h->ncoverage || (h->spec_path && h->spec_text);
}

void kl_form_set_memory(const struct kl_form *form, struct kl_history *h)
{
	/*
	 * Old recordings, without `# memory', come from x86 machines, too.  If they were checked
	 * without store buffers, there could be false alarms.
	 */
	if (!h->memory.told)
		h->memory.sc = !form->tso && !is_recording(h);
}

int kl_form_read(const struct kl_form *form, struct kl_input *in, struct kl_history **out)
{
	struct kl_start start = { .len = 0 };
	const char *data;
	size_t len;
	int ret;

	ret = kl_input_peek(in, &data, &len);
	if (!ret)
		ret = kl_text_start(in->name, data, len);
	if (ret < 0)
		return ret;
	if (ret > 0) {
		kl_input_skip(in, ret);
		kl_input_peek(in, &data, &len);
	}
	kl_start_add(&start, data, len);
	if (!form)
		form = kl_form_tell(data, len);
	if (!form || (in->end && !start.more))
		return kl_form_unread(in->name, form, &start);
	if (in->independent && !form->keys) {
		kl_err("%s: --independent is for the forms edn and jepsen, but the file has the "
		       "form %s: omit the option", in->name, form->name);
		return -EINVAL;
	}
	in->places = form->places;
	in->form = form;
	ret = form->read(in, out);
	if (ret)
		return ret;
	if (!(*out)->source || !(*out)->source->name)
		ret = kl_source_note(*out, in);
	if (ret) {
		kl_history_free(*out);
		*out = NULL;
		return ret;
	}
	kl_form_set_memory(form, *out);
	if (form == &kl_form_klh || (*out)->nops || (*out)->ngaps || (*out)->declared)
		return 0;
	kl_history_free(*out);
	*out = NULL;
	return kl_form_unread(in->name, form, &start);
}
