#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
Try `klin top' with a server that answers as klind does, and worse:  top.py KLIN

Prints "ok:NAME:" or "bad:NAME:MESSAGE" for each test.  The screen is tested under a pseudo
terminal.  Its output goes through a small terminal of our own, which knows the sequences that
ncurses sends for TERM=xterm.  Any other control character is a failure.
"""
import fcntl
import json
import os
import pty
import re
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time

LONG = 30   # seconds after which a test that waits has failed
KLIN = sys.argv[1]
HERE = tempfile.mkdtemp()
PATH = os.path.join(HERE, "socket")


def told(name, right, message=""):
    """Print the result of a test."""
    line = "" if right else str(message).replace("\n", " | ")[:3000]
    print(f"{'ok' if right else 'bad'}:{name}:{line}", flush=True)


def row(name, **members):
    """A structure as klind describes it."""
    base = {"name": name, "watched": True, "verdict": "LINEARIZABLE"}
    for count in ("at", "recorded", "checked", "lost", "missed", "gaps", "violations",
                  "linearizable", "violated", "unknown", "waiting", "lag", "bytes"):
        base[count] = 0
    base.update(members)
    return base


def answer(kind, **members):
    """An answer of klind."""
    return json.dumps({"schema": "klin/1", "kind": kind, "klin": {"version": "0"}, **members})


def http(body, content="application/json"):
    """An HTTP response."""
    body = body if isinstance(body, bytes) else body.encode()
    return f"HTTP/1.0 200 OK\r\nContent-Type: {content}\r\n\r\n".encode() + body


class Server:
    """Answers the requests of `klin top' on PATH."""

    def __init__(self, rows, story=None, raw=None):
        self.rows, self.story, self.raw = rows, story, raw
        self.requests = []
        self.socket = socket.socket(socket.AF_UNIX)
        if os.path.exists(PATH):
            os.unlink(PATH)
        self.socket.bind(PATH)
        self.socket.listen(16)
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def text(self, path):
        """The response to a request."""
        if self.raw is not None:
            return self.raw
        if path.startswith("/top/"):
            return http(answer("top_story", name=path[5:], story=self.story))
        # Counters of a second later in each answer: their rates do not depend on the clock.
        for r in self.rows:
            r["at"] += 1000000000
            r["recorded"] = r.get("_step", 0) + int(r["recorded"])
        rows = [{k: str(v) if type(v) is int and v >> 63 else v for k, v in r.items()
                 if k != "_step"} for r in self.rows]
        return http(answer("top", structures=rows, not_listed=0))

    def serve(self):
        """Serve clients one after the other."""
        while True:
            try:
                client, _ = self.socket.accept()
            except OSError:
                return
            with client:
                try:
                    request = b""
                    while b"\r\n\r\n" not in request:
                        piece = client.recv(4096)
                        if not piece:
                            break
                        request += piece
                    path = request.split(b" ")[1].decode() if b" " in request else ""
                    self.requests.append(path)
                    client.sendall(self.text(path))
                except OSError:
                    pass

    def end(self):
        """Stop listening, and remove the socket."""
        self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()
        self.thread.join()
        os.unlink(PATH)


class Terminal:
    """What a terminal of this size shows."""

    def __init__(self, lines, columns):
        self.wrong = []
        self.modes = set()
        self.pending = b""
        self.resize(lines, columns)
        self.sgr = set()

    def resize(self, lines, columns):
        """Clear the screen."""
        self.lines, self.columns = lines, columns
        self.y = self.x = 0
        self.cells = [[" "] * columns for _ in range(lines)]
        self.last = " "

    def text(self):
        """The lines of the screen."""
        return ["".join(line).rstrip() for line in self.cells]

    def put(self, char):
        """Write a character at the cursor."""
        if self.x >= self.columns:
            self.x = 0
            self.y = min(self.y + 1, self.lines - 1)
        self.cells[self.y][self.x] = self.last = char
        self.x += 1

    def erase(self, y, first, last):
        """Clear some cells of a line."""
        for x in range(max(first, 0), min(last, self.columns)):
            self.cells[y][x] = " "

    def scroll(self, top, by):
        """Move the lines from @top on up, or down."""
        blank = [[" "] * self.columns for _ in range(abs(by))]
        part = self.cells[top:]
        part = part[by:] + blank if by > 0 else blank + part[:by]
        self.cells[top:] = part[:self.lines - top]

    def sequence(self, mark, numbers, final):
        """Obey a control sequence."""
        values = [int(n) if n else 0 for n in numbers.split(";")]
        n = values[0] or 1
        if mark == "?":
            for value in values:
                (self.modes.add if final == "h" else self.modes.discard)(value)
        elif final in "Hf":
            self.y = min(n, self.lines) - 1
            self.x = min((values + [1])[1] or 1, self.columns) - 1
        elif final == "d":
            self.y = min(n, self.lines) - 1
        elif final == "G":
            self.x = min(n, self.columns) - 1
        elif final in "ABCD":
            self.y = max(0, min(self.lines - 1, self.y + {"A": -n, "B": n}.get(final, 0)))
            self.x = max(0, min(self.columns - 1, self.x + {"C": n, "D": -n}.get(final, 0)))
        elif final == "K":
            first = 0 if values[0] else self.x
            self.erase(self.y, first, self.x + 1 if values[0] == 1 else self.columns)
        elif final == "J":
            self.erase(self.y, 0 if values[0] == 2 else self.x, self.columns)
            for y in range(0 if values[0] == 2 else self.y + 1, self.lines):
                self.erase(y, 0, self.columns)
        elif final == "X":
            self.erase(self.y, self.x, self.x + n)
        elif final == "b":
            for _ in range(n):
                self.put(self.last)
        elif final == "P":
            line = self.cells[self.y]
            self.cells[self.y] = line[:self.x] + line[self.x + n:] + [" "] * n
            self.cells[self.y] = self.cells[self.y][:self.columns]
        elif final == "@":
            line = self.cells[self.y]
            self.cells[self.y] = (line[:self.x] + [" "] * n + line[self.x:])[:self.columns]
        elif final == "L":
            self.scroll(self.y, -n)
        elif final == "M":
            self.scroll(self.y, n)
        elif final == "m":
            self.sgr.update(values)
        elif final not in "rtlh":
            self.wrong.append(f"ESC [ {mark}{numbers}{final}")

    def feed(self, data):
        """Take output of the program."""
        data = self.pending + data
        self.pending = b""
        at = 0
        while at < len(data):
            rest = data[at:]
            match = re.match(rb"\x1b\[([?>]?)([0-9;]*)([@-~])", rest)
            if match:
                self.sequence(*(part.decode() for part in match.groups()))
                at += match.end()
            elif re.match(rb"\x1b(\([0AB]|[=>M78])", rest):
                at += 3 if rest[1:2] == b"(" else 2
            elif re.match(rb"\x1b(\[[?>]?[0-9;]*|\()?$", rest):
                self.pending = rest
                return
            elif rest[0] == 13:
                self.x = 0
                at += 1
            elif rest[0] == 10:
                self.y = min(self.y + 1, self.lines - 1)
                at += 1
            elif rest[0] == 8:
                self.x = max(0, self.x - 1)
                at += 1
            elif rest[0] < 32 or rest[0] == 127:
                self.wrong.append(repr(rest[:20]))
                at += 1
            elif rest[0] < 128:
                self.put(chr(rest[0]))
                at += 1
            else:
                size = 2 if rest[0] < 0xe0 else 3 if rest[0] < 0xf0 else 4
                if len(rest) < size:
                    self.pending = rest
                    return
                char = rest[:size].decode(errors="replace")
                if "\ufffd" in char or "\x80" <= char <= "\x9f":
                    self.wrong.append(repr(rest[:20]))
                self.put(char[0])
                at += size


class Program:
    """`klin top' under a pseudo terminal."""

    def __init__(self, *arguments, size=(24, 80), **environment):
        self.terminal = Terminal(*size)
        self.raw = b""
        self.main, self.side = pty.openpty()
        self.window(*size)
        self.before = termios.tcgetattr(self.side)
        env = {**os.environ, "TERM": "xterm", "LC_ALL": "C.UTF-8", **environment}
        for name in [n for n in env if env[n] is None] + ["COLUMNS", "LINES"]:
            env.pop(name, None)
        side = self.side

        def prepare():
            os.setsid()
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)

        self.process = subprocess.Popen([KLIN, "top", f"--socket={PATH}", *arguments], env=env,
                                        stdin=side, stdout=side, stderr=side, preexec_fn=prepare)

    def window(self, lines, columns):
        """Set the size of the terminal."""
        fcntl.ioctl(self.side, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def resize(self, lines, columns):
        """Change the size while the program runs."""
        self.terminal.resize(lines, columns)
        self.window(lines, columns)

    def type(self, keys):
        """Type keys."""
        os.write(self.main, keys.encode())

    def read(self, seconds):
        """Read what the program draws."""
        if select.select([self.main], [], [], seconds)[0]:
            data = os.read(self.main, 65536)
            self.raw += data
            self.terminal.feed(data)
            return True
        return False

    def shows(self, *patterns):
        """True as soon as the screen shows all patterns."""
        until = time.monotonic() + LONG
        while time.monotonic() < until:
            text = "\n".join(self.terminal.text())
            if all(re.search(p, text, re.M) for p in patterns):
                return True
            if not self.read(0.05) and self.process.poll() is not None:
                while self.read(0):
                    pass
                break
        text = "\n".join(self.terminal.text())
        return all(re.search(p, text, re.M) for p in patterns)

    def screen(self):
        """The screen in a message."""
        return "\n".join(self.terminal.text()) + "\n" + repr(self.terminal.wrong[:3])

    def ended(self):
        """Wait for the end.  Return: the status, and what is wrong with the terminal."""
        until = time.monotonic() + LONG
        while self.process.poll() is None and time.monotonic() < until:
            self.read(0.05)
        if self.process.poll() is None:
            self.process.kill()
            return self.process.wait(), "it does not end"
        while self.read(0):
            pass
        wrong = []
        if termios.tcgetattr(self.side) != self.before:
            wrong.append("the terminal's settings differ")
        if 1049 in self.terminal.modes or 1 in self.terminal.modes:
            wrong.append(f"modes are left: {self.terminal.modes}")
        if b"\x1b[?1049h" in self.raw and not self.raw.rstrip().endswith(b"\x1b>") and \
                b"\x1b[?25h" not in self.raw[self.raw.rindex(b"\x1b[?1049h"):]:
            wrong.append("the cursor is hidden")
        wrong += [f"control characters: {w}" for w in self.terminal.wrong[:3]]
        os.close(self.main)
        os.close(self.side)
        return self.process.returncode, "; ".join(wrong)

    def quits(self, name):
        """Type q; the terminal must be as it was."""
        self.type("q")
        status, wrong = self.ended()
        told(name, status == 0 and not wrong, f"status {status}: {wrong}")


def once(*arguments, **environment):
    """Run `klin top --once'.  Return: its status, output and messages."""
    env = {**os.environ, "LC_ALL": "C.UTF-8", "COLUMNS": "132", **environment}
    ran = subprocess.run([KLIN, "top", "--once", f"--socket={PATH}", *arguments], env=env,
                         capture_output=True, timeout=LONG, stdin=subprocess.DEVNULL, check=False)
    return ran.returncode, ran.stdout, ran.stderr


def three():
    """Three structures; the second is violated, the third is unknown."""
    return [row("range", _step=5000, linearizable=2, bytes=1500000),
            row("queue", verdict="VIOLATION", violations=3, violated=1, _step=250000,
                lag=20000000),
            row("stack", verdict="UNKNOWN", reason="events were lost", lost=17, gaps=2,
                unknown=1, _step=10, recorded=(1 << 63) - 1000000)]


def tidy(data):
    """True if a text has no control character but newlines."""
    return not re.search(rb"[\x00-\x09\x0b-\x1f\x7f]|\xc2[\x80-\x9f]", data)


def test_once():
    """The table as text."""
    server = Server(three())
    status, out, err = once()
    lines = out.decode().splitlines()
    told("--once prints a line for each structure",
         status == 0 and not err and len(lines) == 4, (status, out, err))
    told("violations come first, then unknown",
         [line.split()[0] for line in lines] == ["STRUCTURE", "queue", "stack", "range"], out)
    told("rates are between two samples",
         [line.split()[2] for line in lines] == ["OPS/S", "250k", "10", "5000"], out)
    told("losses, gaps and lag", [line.split()[4:7] for line in lines[1:3]] ==
         [["20ms", "0", "0"], ["0", "17", "2"]], out)
    status, out, err = once("--sort=rate", COLUMNS="40")
    lines = out.decode().splitlines()
    told("--sort=rate, in 40 columns", status == 0 and all(len(line) <= 40 for line in lines) and
         [line.split()[0] for line in lines] == ["STRUCTURE", "queue", "range", "stack"], out)
    for r in server.rows:
        r["_step"] = -1
    status, out, err = once()
    told("counters that restart have no rate", status == 0 and
         [line.split()[2] for line in out.decode().splitlines()[1:]] == ["-"] * 3, out)
    server.end()
    server = Server([row(f"s{i:04}") for i in range(1200)])
    status, out, err = once("--sort=name")
    told("of many structures 1000 are listed", status == 0 and out.count(b"\n") == 1002 and
         b"\n200 more structures are not listed\n" in out, out[-300:])
    server.end()
    server = Server([])
    status, out, err = once()
    told("no structure", status == 0 and out.count(b"\n") == 1, out)
    server.end()
    status, out, err = once()
    told("no klind: status 4 and a message", status == 4 and not out and
         b"klind does not run" in err and err.count(b"\n") == 1, (status, out, err))


def test_hostile_once():
    """Answers that are not klind's."""
    many = {"structures": [row("x")], "not_listed": 0}
    bad = {
        "nothing": b"",
        "not HTTP": b"hello\n",
        "metrics of an old klind": http("# HELP klin_up\n", "text/plain"),
        "an error of HTTP": b"HTTP/1.0 404 Not Found\r\n\r\n",
        "no JSON": http("{"),
        "JSON of another kind": http(answer("check")),
        "an array": http("[]"),
        "a deep array": http("[" * 100000),
        "a number for a name": http(answer("top", structures=[row(7)], not_listed=0)),
        "no name": http(answer("top", structures=[row("")], not_listed=0)),
        "a negative count": http(answer("top", structures=[row("x", lost=-1)], not_listed=0)),
        "a real count": http(answer("top", structures=[row("x", lost=1.5)], not_listed=0)),
        "a count of words": http(answer("top", structures=[row("x", lost="12x")], not_listed=0)),
        "a count above 64 bits": http(answer("top", structures=[row("x", lost="9" * 30)],
                                             not_listed=0)),
        "an unknown verdict": http(answer("top", structures=[row("x", verdict="FINE")],
                                          not_listed=0)),
        "a missing count": http(answer("top", structures=[{"name": "x"}], not_listed=0)),
        "no count of more": http(answer("top", structures=[])),
        "a member twice": http(answer("top", **many)[:-1] + ', "kind": "top"}'),
        "wrong UTF-8": http(answer("top", structures=[row("x")], not_listed=0).encode()
                            .replace(b'"x"', b'"\xff\xfe"')),
        "a NUL": http(answer("top", structures=[row("a\0b")], not_listed=0)),
        "NULs": bytes(1000),
        "more than two MiB": http(b" " * (5 << 20)),
    }
    for name, raw in bad.items():
        server = Server([], raw=raw)
        status, out, err = once()
        told(f"refused: {name}", status == 4 and not out and b"no answer from klind" in err and
             err.count(b"\n") == 1 and tidy(err), (status, out[:200], err[:300]))
        server.end()
    evil = "\x1b]0;owned\x07\x1b[2J\r\nA\x9b31m\u202eB" + "x" * 100000
    server = Server([row(evil, reason=evil, _step=1)])
    status, out, err = once()
    told("a name with control characters", status == 0 and tidy(out) and not err and
         out.startswith(b"STRUCTURE") and b"?]0;owned??[2J" in out and len(out) < 1000, out[:500])
    server.end()
    server = Server([row("caf\u00e9-\u65e5\u672c", recorded=(1 << 64) - 1)])
    status, out, err = once(LC_ALL="C")
    told("ASCII where the locale is not UTF-8", status == 0 and out.isascii() and
         b"caf?-??" in out and b" 18E " in out, out)
    status, out, err = once()
    told("UTF-8 where the locale is UTF-8", "caf\u00e9-\u65e5\u672c " in out.decode(), out)
    server.end()


STORY = "What is wrong: t1's deq() -> 1 took 1 a second time.\n\n" + \
    "\n".join(f"  t{i} line {i} of the story" for i in range(60)) + "\nThe last line."


def test_screen(size):
    """The screen of a size: keys, a story, the way back."""
    at = f"{size[1]}x{size[0]}: "
    server = Server(three() + [row(f"more{i:02}", _step=100 + i) for i in range(40)],
                    story=STORY)
    program = Program(size=size)
    told(at + "structures, rates and keys", program.shows("^queue +VIOLATION +250k", "^q quit",
         "^klin top by verdict: 1 of 43 violated"), program.screen())
    told(at + "no line is too long", all(len(line) <= size[1] for line in program.terminal.text()))
    program.type("\r")
    told(at + "Enter shows the story", program.shows("^Last story of queue",
         "^What is wrong: t1's deq"), program.screen())
    told(at + "the story of the selected structure is asked for", "/top/queue" in server.requests)
    program.type("G")
    told(at + "G shows its end", program.shows("^The last line."), program.screen())
    program.type("g")
    told(at + "g shows its begin", program.shows("^What is wrong"), program.screen())
    program.type(" ")
    told(at + "Space goes back", program.shows("^queue +VIOLATION"), program.screen())
    program.type("j ")
    told(at + "j selects the next one", program.shows("^Last story of stack"), program.screen())
    program.type("\rk\r")
    told(at + "k selects the one before", program.shows("^Last story of queue"), program.screen())
    program.type("\r\x1bOB\x1bOB\r")
    told(at + "the arrows select", program.shows("^Last story of more00"), program.screen())
    program.type("\r\x1bOF")
    told(at + "End shows the last structure", program.shows("^range +LIN"), program.screen())
    program.type("s")
    told(at + "s sorts by rate, and the same structure stays selected",
         program.shows("by rate", "^range +LIN"), program.screen())
    program.type("g")
    told(at + "the largest rate comes first", program.shows("OPS/S.*\nqueue +VIOLATION +250k"),
         program.screen())
    program.type("h")
    told(at + "h shows help", program.shows("^Keys and columns"), program.screen())
    program.type("?")
    told(at + "? closes help", program.shows("^queue"), program.screen())
    program.type("p")
    told(at + "p says so", program.shows("PAUSED"), program.screen())
    asked = len(server.requests)
    time.sleep(2.2)
    told(at + "p stops the samples", len(server.requests) <= asked + 1, len(server.requests))
    program.type("p")
    until = time.monotonic() + LONG
    while len(server.requests) < asked + 3 and time.monotonic() < until:
        program.read(0.1)
    told(at + "p goes on", len(server.requests) >= asked + 3, len(server.requests))
    other = (10, 40) if size[0] > 10 else (24, 80)
    program.resize(*other)
    told(at + "another size", program.shows("^queue +VIOLATION",
         rf"\A(.*\n){{{other[0] - 1}}}q quit"), program.screen())
    program.resize(1, 1)
    time.sleep(0.3)
    program.resize(*size)
    told(at + "the smallest size, and back", program.shows("^queue +VIOLATION",
         rf"\A(.*\n){{{size[0] - 1}}}q quit"), program.screen())
    program.quits(at + "q restores the terminal")
    server.end()


def test_no_flicker():
    """Nothing is cleared to be drawn again."""
    server = Server(three())
    program = Program()
    program.shows("250k")
    program.raw = b""
    until = time.monotonic() + 2.5
    while time.monotonic() < until:
        program.read(0.1)
    told("a sample draws only what has changed", 0 < len(program.raw) < 1500 and
         b"\x1b[2J" not in program.raw and b"\x1b[J" not in program.raw, len(program.raw))
    program.quits("q")
    server.end()


def test_server_dies():
    """The screen says that klind is gone, and comes back with it."""
    server = Server(three())
    program = Program()
    program.shows("^queue")
    server.end()
    told("the screen says that klind is gone",
         program.shows("^No answer from klind: klind does not run", "^queue"), program.screen())
    server = Server(three())
    until = time.monotonic() + LONG
    while "No answer" in "\n".join(program.terminal.text()) and time.monotonic() < until:
        program.read(0.1)
    told("and goes on when klind is back", not program.terminal.text()[1], program.screen())
    server.raw = http("{")
    told("a wrong answer is said", program.shows("the answer is not klind's"), program.screen())
    program.quits("q while answers are wrong")
    server.end()


def test_server_hangs():
    """Keys work while klind does not answer."""
    listener = socket.socket(socket.AF_UNIX)
    if os.path.exists(PATH):
        os.unlink(PATH)
    listener.bind(PATH)
    listener.listen(1)
    program = Program()
    program.type("h")
    told("keys work while klind does not answer", program.shows("^Keys and columns"),
         program.screen())
    told("that it does not answer is said", program.shows("no answer in 5 seconds"),
         program.screen())
    program.quits("q while klind does not answer")
    listener.close()
    os.unlink(PATH)


def test_signals():
    """Signals restore the terminal."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGSEGV,
                   signal.SIGABRT):
        server = Server(three())
        program = Program(ASAN_OPTIONS="handle_segv=0:handle_abort=0")
        program.shows("^queue")
        program.process.send_signal(number)
        status, wrong = program.ended()
        told(f"{number.name} restores the terminal", status == -number and not wrong,
             f"status {status}: {wrong}")
        server.end()
    server = Server(three())
    program = Program()
    program.shows("^queue")
    program.type("\x03")
    status, wrong = program.ended()
    told("Ctrl-C restores the terminal", status == -signal.SIGINT and not wrong,
         f"status {status}: {wrong}")
    program = Program(TERM="no-such-terminal")
    status, wrong = program.ended()
    told("an unknown terminal is refused", status == 2 and not wrong and
         b"no such terminal is known" in program.raw, (status, wrong, program.raw))
    program = Program(TERM="dumb")
    status, wrong = program.ended()
    told("a terminal without a cursor is refused", status == 2 and not wrong and
         b"cannot move its cursor" in program.raw, (status, wrong, program.raw))
    server.end()


def test_hostile_screen():
    """Nothing of an answer reaches the terminal as a command."""
    evil = "\x1b]0;owned\x07\x1b[2J\x1b[?1049l\r\n\x9b31mA\u202e\ud83d\ude00" \
        .encode("utf-16", "surrogatepass").decode("utf-16") + "x" * 50000
    server = Server([row(evil + str(i), reason=evil) for i in range(3)], story=(evil + "\n") * 20)
    for locale in "C.UTF-8", "C":
        program = Program(LC_ALL=locale)
        told(f"{locale}: a hostile name and reason", program.shows(r"^\?\]0;owned\?\?\[2J"),
             program.screen())
        program.type("\r")
        told(f"{locale}: a hostile story", program.shows("^Last story of", r"^\?\]0;owned"),
             program.screen())
        told(f"{locale}: no text of the answer is a command", b"\x1b]" not in program.raw and
             b"\x07" not in program.raw and program.raw.count(b"\x1b[?1049l") == 0 and
             (locale != "C" or program.raw.isascii()))
        program.type("jjkkGg\r")
        program.resize(10, 40)
        program.quits(f"{locale}: q after a hostile answer")
    server.end()


def test_colours():
    """--color and NO_COLOR."""
    server = Server(three())
    for name, arguments, environment, wanted in (
            ("colours on a terminal", [], {"NO_COLOR": None}, True),
            ("NO_COLOR", [], {"NO_COLOR": "1"}, False),
            ("--color=always", ["--color=always"], {"NO_COLOR": "1"}, True),
            ("--color=never", ["--color=never"], {"NO_COLOR": None}, False)):
        program = Program(*arguments, **environment)
        program.shows("^queue +VIOLATION +250k")
        program.type("q")
        program.ended()
        told(name, bool(program.terminal.sgr & set(range(31, 38))) == wanted,
             program.terminal.sgr)
    server.end()


def main():
    """Run all tests."""
    test_once()
    test_hostile_once()
    test_screen((24, 80))
    test_screen((10, 40))
    test_no_flicker()
    test_server_dies()
    test_server_hangs()
    test_signals()
    test_hostile_screen()
    test_colours()
    os.rmdir(HERE)


main()
