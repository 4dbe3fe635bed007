# SPDX-License-Identifier: GPL-2.0
"""A browser without a window, spoken to by the DevTools protocol.

Python's standard library has no WebSocket, so the few lines of RFC 6455 that are needed are here.
"""

import base64
import json
import os
import re
import shutil
import socket
import struct
import subprocess
import tempfile
import urllib.request


class Socket:
    """A WebSocket to a server on this machine."""

    def __init__(self, url):
        host, port, path = re.match(r"ws://([^:/]+):(\d+)(/.*)", url).groups()
        self.s = socket.create_connection((host, int(port)), 60)
        key = base64.b64encode(os.urandom(16)).decode()
        self.s.sendall((f"GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\nUpgrade: websocket\r\n"
                        f"Connection: Upgrade\r\nSec-WebSocket-Key: {key}\r\n"
                        "Sec-WebSocket-Version: 13\r\n\r\n").encode())
        head = b""
        while b"\r\n\r\n" not in head:
            head += self.s.recv(1)
        assert b" 101 " in head.split(b"\r\n")[0] + b" ", head

    def read(self, n):
        data = b""
        while len(data) < n:
            part = self.s.recv(min(n - len(data), 1 << 16))
            if not part:
                raise EOFError("the browser closed the connection")
            data += part
        return data

    def send(self, text):
        data, mask = text.encode(), os.urandom(4)
        n = len(data)
        head = b"\x81" + (bytes([0x80 | n]) if n < 126 else
                          b"\xfe" + struct.pack(">H", n) if n < 1 << 16 else
                          b"\xff" + struct.pack(">Q", n))
        self.s.sendall(head + mask + bytes(b ^ mask[i % 4] for i, b in enumerate(data)))

    def receive(self):
        """Return the next message, whole."""
        whole = b""
        while True:
            first, second = self.read(2)
            n = second & 127
            if n > 125:
                n = struct.unpack(">H" if n == 126 else ">Q", self.read(2 if n == 126 else 8))[0]
            data = self.read(n)
            if first & 15 in (0, 1):
                whole += data
                if first & 128:
                    return whole.decode()


def find_browser():
    """Return the program of a browser, or None."""
    names = "chromium", "chromium-browser", "google-chrome"
    return next((path for path in map(shutil.which, names) if path), None)


class Browser:
    """Chromium with one page."""

    def __init__(self, program):
        self.home = tempfile.mkdtemp()
        self.process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
             "--disable-dev-shm-usage", "--disable-extensions", "--disable-background-networking",
             "--remote-debugging-port=0", f"--user-data-dir={self.home}", "about:blank"],
            stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        port = None
        for line in self.process.stderr:
            found = re.search(rb"listening on ws://[^:]+:(\d+)/", line)
            if found:
                port = int(found.group(1))
                break
        assert port, "the browser does not listen"
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/json/list") as answer:
            pages = json.load(answer)
        self.socket = Socket([p for p in pages if p["type"] == "page"][0]["webSocketDebuggerUrl"])
        self.number = 0
        self.faults = []
        self.loaded = set()
        for domain in "Page", "Runtime", "Log":
            self.call(domain + ".enable")
        self.call("Page.setLifecycleEventsEnabled", enabled=True)
        self.size(1280, 900)

    def call(self, method, **params):
        self.number += 1
        self.socket.send(json.dumps({"id": self.number, "method": method, "params": params}))
        while True:
            answer = json.loads(self.socket.receive())
            self.note(answer)
            if answer.get("id") == self.number:
                assert "error" not in answer, (method, answer["error"])
                return answer["result"]

    def note(self, message):
        """Remember what went wrong on the page."""
        what = message.get("method")
        if what == "Runtime.exceptionThrown":
            self.faults.append(message["params"]["exceptionDetails"])
        elif what == "Log.entryAdded" and message["params"]["entry"]["level"] == "error":
            self.faults.append(message["params"]["entry"])
        elif what == "Page.javascriptDialogOpening":
            self.faults.append(message["params"])
        elif what == "Page.lifecycleEvent" and message["params"]["name"] == "load":
            self.loaded.add(message["params"]["loaderId"])

    def go(self, url):
        """Go to an address, and wait until its page is loaded."""
        loader = self.call("Page.navigate", url=url)["loaderId"]
        while loader not in self.loaded:
            self.note(json.loads(self.socket.receive()))

    def open(self, path):
        """Open a file, and wait until it is loaded."""
        # The page before may be the same one with another fragment, which would not be loaded.
        self.go("about:blank")
        self.faults = []
        self.go("file://" + os.path.abspath(path))

    def run(self, code):
        """Evaluate JavaScript, and return its value."""
        answer = self.call("Runtime.evaluate", expression=code, returnByValue=True,
                           awaitPromise=True)
        assert "exceptionDetails" not in answer, (code, answer["exceptionDetails"])
        return answer["result"].get("value")

    def key(self, name):
        for kind in "keyDown", "keyUp":
            self.call("Input.dispatchKeyEvent", type=kind, key=name,
                      **({"text": name} if len(name) == 1 else {}))

    def type(self, text):
        self.call("Input.insertText", text=text)

    def click(self, x, y):
        for kind in "mousePressed", "mouseReleased":
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left",
                      clickCount=1)

    def wheel(self, x, y, by):
        self.call("Input.dispatchMouseEvent", type="mouseWheel", x=x, y=y, deltaX=0, deltaY=by)

    def size(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=False)

    def dark(self, is_dark):
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if is_dark else "light"}])

    def picture(self, path, whole=True):
        # Frames that were asked for are drawn first.
        self.run("new Promise((f) => requestAnimationFrame(() => requestAnimationFrame(f)))")
        data = self.call("Page.captureScreenshot", captureBeyondViewport=whole)["data"]
        with open(path, "wb") as f:
            f.write(base64.b64decode(data))

    def close(self):
        self.process.terminate()
        self.process.wait()
        self.process.stderr.close()
        shutil.rmtree(self.home, ignore_errors=True)
