// SPDX-License-Identifier: GPL-2.0
/* The screen of `klin top', see screen.h. */
#include <curses.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "top/screen.h"
#include "top/table.h"
#include "top/text.h"

#define HEAD	3	/* lines above the table: title, message, titles of the columns */
#define FOOT	2	/* lines below the table: the reason, and the keys */

enum view { VIEW_TABLE, VIEW_STORY, VIEW_HELP };
enum pair { PAIR_GOOD = 1, PAIR_BAD, PAIR_DOUBT };

static const char help[] =
	"Up, Down, k, j      select a structure, or scroll a story\n"
	"PgUp, PgDn          the same by a page\n"
	"Home, End, g, G     the first, the last\n"
	"Enter, Space        the last story of the selected structure, and back\n"
	"s                   the next order: verdict, rate, lag, lost, name\n"
	"p                   pause, and go on\n"
	"h, ?                this help, and back\n"
	"q                   quit\n"
	"\n" TOP_COLUMNS;

static struct {
	SCREEN *term;		/* NULL: the screen is not open */
	FILE *in, *out;
	const char *title;
	bool colour, paused, alarm;
	enum view view;
	int scroll;		/* first line of the story or help that is shown */
	size_t first;		/* first structure that is shown */
	char message[200];
	char name[TOP_NAME], story[TOP_STORY];
} scr;

static volatile sig_atomic_t ending;	/* the signal that asks the program to end */

static const int endings[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
static const int crashes[] = { SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL };

static void on_ending(int sig)
{
	ending = sig;
}

/* Restore the terminal before the program dies, as ncurses does on its own for SIGINT. */
static void on_crash(int sig)
{
	if (scr.term)
		endwin();
	raise(sig);
}

static void restore(void)
{
	if (scr.term)
		endwin();
}

/* Handle those of @n signals for which the program has no handler. */
static void handle(const int *signals, size_t n, void (*handler)(int), int flags)
{
	struct sigaction old, act = { .sa_handler = handler, .sa_flags = flags };
	size_t i;

	for (i = 0; i < n; i++)
		if (!sigaction(signals[i], NULL, &old) && old.sa_handler == SIG_DFL)
			sigaction(signals[i], &act, NULL);
}

/* Let those of @n signals that have this handler do by default again. */
static void forget(const int *signals, size_t n, void (*handler)(int))
{
	struct sigaction old;
	size_t i;

	for (i = 0; i < n; i++)
		if (!sigaction(signals[i], NULL, &old) && old.sa_handler == handler)
			signal(signals[i], SIG_DFL);
}

static void begin_colours(enum kl_diagram_auto colour)
{
	scr.colour = colour != KL_DIAGRAM_OFF &&
		     (colour == KL_DIAGRAM_ON || kl_colour_wanted(scr.out)) && has_colors() &&
		     start_color() == OK;
	if (!scr.colour)
		return;
	use_default_colors();
	init_pair(PAIR_GOOD, COLOR_GREEN, -1);
	init_pair(PAIR_BAD, COLOR_RED, -1);
	init_pair(PAIR_DOUBT, COLOR_YELLOW, -1);
}

static FILE *open_copy(int fd, const char *mode)
{
	const int copy = dup(fd);
	FILE *f = copy < 0 ? NULL : fdopen(copy, mode);

	if (!f && copy >= 0)
		close(copy);
	return f;
}

static void close_files(void)
{
	if (scr.in)
		fclose(scr.in);
	if (scr.out)
		fclose(scr.out);
	scr.in = scr.out = NULL;
}

int top_screen_open(int in, int out, const char *title, enum kl_diagram_auto colour)
{
	static bool registered;
	const char *term = getenv("TERM"), *move;
	bool known;

	if (!isatty(in) || !isatty(out)) {
		kl_err("the screen needs a terminal; `klin top --once' prints the table as text");
		return -EINVAL;
	}
	if (!registered && atexit(restore))
		return -ENOMEM;
	registered = true;
	memset(&scr, 0, sizeof(scr));
	scr.title = title;
	scr.in = open_copy(in, "r");
	scr.out = open_copy(out, "w");
	if (!scr.in || !scr.out) {
		close_files();
		return -ENOMEM;
	}
	ending = 0;
	/* ncurses leaves these to a program that handles them already. */
	handle(endings, sizeof(endings) / sizeof(*endings), on_ending, 0);
	scr.term = newterm(NULL, scr.out, scr.in);
	known = scr.term;
	move = known ? tigetstr("cup") : NULL;
	if (!move || move == (char *)-1) {
		top_screen_close();
		kl_err("TERM=%s: %s; set TERM, or use `klin top --once'", term ? term : "",
		       known ? "this terminal cannot move its cursor" :
			       "no such terminal is known");
		return -EINVAL;
	}
	handle(crashes, sizeof(crashes) / sizeof(*crashes), on_crash, SA_RESETHAND | SA_NODEFER);
	set_escdelay(25);
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	curs_set(0);
	begin_colours(colour);
	return 0;
}

void top_screen_close(void)
{
	const int sig = ending;

	if (scr.term) {
		endwin();
		delscreen(scr.term);
		scr.term = NULL;
	}
	close_files();
	forget(crashes, sizeof(crashes) / sizeof(*crashes), on_crash);
	forget(endings, sizeof(endings) / sizeof(*endings), on_ending);
	ending = 0;
	if (sig)
		raise(sig);
}

void top_screen_say(const char *text, bool alarm)
{
	top_text_clean(scr.message, sizeof(scr.message), text, 0);
	scr.alarm = alarm;
}

void top_screen_story(const char *name, const char *story)
{
	top_text_clean(scr.name, sizeof(scr.name), name, 0);
	top_text_clean(scr.story, sizeof(scr.story), story, 1);
	scr.view = VIEW_STORY;
	scr.scroll = 0;
}

bool top_screen_paused(void)
{
	return scr.paused;
}

int top_screen_signal(void)
{
	return ending;
}

static int colour_of(enum pair pair)
{
	return scr.colour ? COLOR_PAIR(pair) : 0;
}

/* Put a text into a line, which is filled with @attributes up to the right edge. */
static void draw_text(int y, int attributes, const char *text)
{
	char cut[TOP_TEXT];
	const int used = top_text_cut(cut, sizeof(cut), text, COLS, NULL);

	if (y < 0 || y >= LINES)
		return;
	attron(attributes);
	mvaddstr(y, 0, cut);
	/* The last cell of the screen cannot be written without scrolling on some terminals. */
	if (used < COLS)
		hline(' ' | attributes, COLS - used - (y == LINES - 1));
	attroff(attributes);
}

static void draw_head(const struct top_model *m)
{
	char text[TOP_TEXT];
	size_t i, violated = 0;

	for (i = 0; i < m->n; i++)
		violated += m->lines[i].row.verdict == KL_VIOLATION;
	snprintf(text, sizeof(text), "klin top%s by %s: %zu of %zu violated  %.300s",
		 scr.paused ? " PAUSED" : "", top_sorts[m->sort], violated, m->n, scr.title);
	draw_text(0, A_BOLD, text);
	draw_text(1, scr.alarm ? A_BOLD | colour_of(PAIR_BAD) : 0, scr.message);
}

static int attributes_of(const struct top_row *r)
{
	if (r->verdict == KL_VIOLATION)
		return A_BOLD | colour_of(PAIR_BAD);
	return r->verdict == KL_UNKNOWN || !r->up ? colour_of(PAIR_DOUBT) : colour_of(PAIR_GOOD);
}

/* Scroll so that the selected structure is in sight.  @rows: number of lines of the table. */
static void scroll_table(const struct top_model *m, size_t rows)
{
	if (m->selected < scr.first)
		scr.first = m->selected;
	if (m->selected >= scr.first + rows)
		scr.first = m->selected - rows + 1;
	if (scr.first + rows > m->n)
		scr.first = m->n > rows ? m->n - rows : 0;
}

static int table_rows(void)
{
	return LINES > HEAD + FOOT ? LINES - HEAD - FOOT : 1;
}

static void draw_table(const struct top_model *m)
{
	const struct top_line *selected = top_model_selected(m);
	const int rows = table_rows();
	char text[TOP_TEXT];
	int y;

	scroll_table(m, rows);
	top_table_head(text, COLS);
	draw_text(HEAD - 1, A_REVERSE, text);
	for (y = 0; y < rows && scr.first + y < m->n; y++) {
		const struct top_line *l = m->order[scr.first + y];

		top_table_line(text, l, COLS);
		draw_text(HEAD + y, attributes_of(&l->row) | (l == selected ? A_REVERSE : 0), text);
	}
	if (selected && *selected->row.reason)
		draw_text(LINES - FOOT, 0, selected->row.reason);
}

/*
 * Find the end of a line of at most @width columns, at a space if there is one.  Return: its end;
 * @next: gets the begin of the next line.
 */
static const char *wrap(const char *text, int width, const char **next)
{
	char cut[TOP_TEXT];
	const char *end, *space;

	top_text_cut(cut, sizeof(cut), text, width, &end);
	*next = end;
	if (!*end)
		return end;
	if (*end == '\n' || *end == ' ') {
		(*next)++;
		return end;
	}
	for (space = end; space > text && *space != ' '; space--)
		;
	if (space > text) {
		*next = space + 1;
		end = space;
	} else if (end == text) {
		/* Not one character fits. */
		(*next)++;
	}
	return end;
}

/* Draw a long text from line scr.scroll on, and correct scr.scroll at its end. */
static void draw_pages(const char *title, const char *text)
{
	const int rows = LINES > HEAD + 1 ? LINES - HEAD - 1 : 1;
	const int width = COLS < TOP_WIDTH ? COLS : TOP_WIDTH;
	const char *s, *end, *next;
	char line[TOP_TEXT];
	int lines = 0, y;

	for (s = text; *s; s = next) {
		wrap(s, width, &next);
		lines++;
	}
	if (scr.scroll > lines - rows)
		scr.scroll = lines - rows;
	if (scr.scroll < 0)
		scr.scroll = 0;
	draw_text(HEAD - 1, A_REVERSE, title);
	for (s = text, y = -scr.scroll; *s && y < rows; s = next, y++) {
		end = wrap(s, width, &next);
		if (y < 0)
			continue;
		snprintf(line, sizeof(line), "%.*s", (int)(end - s), s);
		draw_text(HEAD + y, 0, line);
	}
}

void top_screen_draw(const struct top_model *m)
{
	static const char *const keys[] = {
		[VIEW_TABLE] = "q quit  Enter story  s sort  p pause  h help  j k select",
		[VIEW_STORY] = "q quit  Enter back  j k scroll",
		[VIEW_HELP] = "q quit  h back  j k scroll",
	};
	char title[TOP_NAME + 40];

	if (!scr.term)
		return;
	erase();
	draw_head(m);
	switch (scr.view) {
	case VIEW_TABLE:
		draw_table(m);
		break;
	case VIEW_STORY:
		snprintf(title, sizeof(title), "Last story of %s", scr.name);
		draw_pages(title, scr.story);
		break;
	case VIEW_HELP:
		draw_pages("Keys and columns", help);
		break;
	}
	draw_text(LINES - 1, A_REVERSE, keys[scr.view]);
	wnoutrefresh(stdscr);
	doupdate();
}

/* Scroll a text, or select another structure.  @by: number of lines down. */
static void move_by(struct top_model *m, long by)
{
	if (scr.view == VIEW_TABLE)
		top_model_move(m, by);
	/* draw_pages() corrects a position behind the end. */
	else if (by < 0 && scr.scroll < -by)
		scr.scroll = 0;
	else if (scr.scroll < TOP_STORY)
		scr.scroll += by < TOP_STORY ? by : TOP_STORY;
}

static enum top_action one_key(struct top_model *m, int key)
{
	switch (key) {
	case 'q':
	case 3:		/* Ctrl-C, where the terminal sends no signal */
		return TOP_QUIT;
	case KEY_UP:
	case 'k':
		move_by(m, -1);
		break;
	case KEY_DOWN:
	case 'j':
		move_by(m, 1);
		break;
	case KEY_PPAGE:
		move_by(m, -table_rows());
		break;
	case KEY_NPAGE:
		move_by(m, table_rows());
		break;
	case KEY_HOME:
	case 'g':
		move_by(m, -(1l << 30));
		break;
	case KEY_END:
	case 'G':
		move_by(m, 1l << 30);
		break;
	case 's':
		top_model_sort(m, (m->sort + 1) % TOP_SORTS);
		break;
	case 'p':
		scr.paused = !scr.paused;
		break;
	case 'h':
	case '?':
		scr.view = scr.view == VIEW_HELP ? VIEW_TABLE : VIEW_HELP;
		scr.scroll = 0;
		break;
	case '\r':
	case '\n':
	case KEY_ENTER:
	case ' ':
		if (scr.view == VIEW_TABLE)
			return top_model_selected(m) ? TOP_STORY_WANTED : TOP_NONE;
		scr.view = VIEW_TABLE;
		break;
	case 27:	/* Escape */
		scr.view = VIEW_TABLE;
		break;
	case 'L' & 0x1f:
		clearok(stdscr, TRUE);
		break;
	default:
		break;
	}
	return TOP_NONE;
}

enum top_action top_screen_keys(struct top_model *m)
{
	enum top_action action = TOP_NONE;
	bool any = false;
	int key;

	while (action != TOP_QUIT && (key = getch()) != ERR) {
		any = true;
		action = one_key(m, key);
		/* The caller must know the structure that is selected now. */
		if (action == TOP_STORY_WANTED)
			break;
	}
	if (any && action == TOP_NONE)
		top_screen_draw(m);
	return ending ? TOP_QUIT : action;
}
