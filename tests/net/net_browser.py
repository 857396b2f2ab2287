"""A real browser for tests, spoken to over a pipe in the DevTools protocol; no root needed, nothing but what is here.

An installed Chromium is taken if there is one. Otherwise the headless Chromium that the npm package @sparticuz/chromium
carries is fetched from the npm registry, once: the archive is checked against the hash below, its Brotli files are
unpacked into the user's cache. It brings the libraries that it needs beside libc.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import os
import platform
import select
import shutil
import subprocess
import sys
import tarfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ARCHIVE = "https://registry.npmjs.org/@sparticuz/chromium/-/chromium-153.0.0.tgz"
SHA512 = "jiGWqSvPMdu4+P9TilYqAR7yEGPEHINx+lCvE/NqNO/EHYzF/x1hUiI5T6ioVIt7dEy7n88byyT0vk+dnsgQwA=="
CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "tidelog-tests" / "chromium-153.0.0"
FONTS = f"""<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir>{CACHE}/fonts</dir><cachedir>{CACHE}/fonts-cache</cachedir></fontconfig>
"""
PATIENCE = 60.0
BECOME = """
import fcntl, os, sys
read, write = (fcntl.fcntl(int(fd), fcntl.F_DUPFD, 10) for fd in sys.argv[1:3])
os.dup2(read, 3)
os.dup2(write, 4)
os.execv(sys.argv[3], sys.argv[3:])
"""
"""Starts the browser with the pipes where it looks for them: it reads from 3 and writes to 4."""


class NoBrowser(Exception):
    """There is none, and none could be fetched; the text says why."""


def find() -> Path:
    """The browser's program."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if found := shutil.which(name):
            return Path(found)
    return fetched()


def fetched() -> Path:
    """The browser from the npm registry, unpacked in the cache."""
    if not (CACHE / "chromium").exists():
        if (platform.system(), platform.machine()) != ("Linux", "x86_64"):
            raise NoBrowser("no Chromium is installed, and the one to fetch is for Linux on x86-64")
        try:
            import brotli
        except ImportError:
            raise NoBrowser("no Chromium is installed, and unpacking one needs `pip install brotli`") from None
        try:
            with urllib.request.urlopen(ARCHIVE, timeout=PATIENCE) as answer:
                archive = answer.read()
        except (urllib.error.URLError, TimeoutError) as problem:
            raise NoBrowser(f"no Chromium is installed, and {ARCHIVE} cannot be fetched: {problem}") from None
        if base64.b64encode(hashlib.sha512(archive).digest()).decode() != SHA512:
            raise NoBrowser(f"{ARCHIVE} is not the archive that it was")
        _unpack(archive, brotli.decompress)
    return CACHE / "chromium"


def _unpack(archive: bytes, decompress: Any) -> None:
    partial = CACHE.with_name(f"{CACHE.name}.{os.getpid()}")
    partial.mkdir(parents=True)
    with tarfile.open(fileobj=io.BytesIO(archive)) as package:
        for name in ("al2023", "fonts", "chromium"):
            suffix = "br" if name == "chromium" else "tar.br"
            content = package.extractfile(f"package/bin/{name}.{suffix}")
            assert content is not None
            plain = decompress(content.read())
            if name == "chromium":
                (partial / name).write_bytes(plain)
                (partial / name).chmod(0o755)
            else:
                with tarfile.open(fileobj=io.BytesIO(plain)) as inner:
                    inner.extractall(partial, filter="data")
    (partial / "fonts.conf").write_text(FONTS)  # its own names folders of another machine; without a font pages crash
    try:
        partial.rename(CACHE)
    except OSError:  # another test process was faster
        shutil.rmtree(partial)


class Page:
    """A page that is open in a browser."""

    def __init__(self, out: int, back: int) -> None:
        self._out, self._back = out, back
        self._number = 0
        self._read = b""
        self._session: str | None = None

    def open(self, url: str) -> None:
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        answer = self.call("Page.navigate", url=url)
        assert "errorText" not in answer, answer["errorText"]
        deadline = time.monotonic() + PATIENCE
        while self.evaluate("[location.href, document.readyState].join()") != f"{url},complete":
            assert time.monotonic() < deadline, f"{url} does not load"

    def evaluate(self, script: str) -> Any:
        """The value of a script, which runs as the page's own scripts do; an AssertionError if it throws."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while (answer := self._next()).get("id") != self._number:
            pass
        assert "error" not in answer, answer["error"]
        return answer["result"]

    def _next(self) -> dict[str, Any]:
        deadline = time.monotonic() + PATIENCE
        while b"\0" not in self._read:
            ready, _, _ = select.select([self._back], [], [], max(0.0, deadline - time.monotonic()))
            part = os.read(self._back, 1 << 16) if ready else b""
            assert part, "the browser has ended, or does not answer"
            self._read += part
        message, _, self._read = self._read.partition(b"\0")
        return json.loads(message)


@contextmanager
def browse(url: str, profile: Path, browser: Path) -> Iterator[Page]:
    """The page at this address, in a browser that ends with the context."""
    to_browser, from_us = os.pipe()
    from_browser, to_us = os.pipe()
    command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--no-zygote", "--remote-debugging-pipe",
               f"--user-data-dir={profile}"]  # fmt: skip
    beside = browser.parent
    here = {"LD_LIBRARY_PATH": str(beside / "lib"), "FONTCONFIG_PATH": str(beside)} if beside == CACHE else {}
    started = subprocess.Popen(
        [sys.executable, "-c", BECOME, str(to_browser), str(to_us), *map(str, command)],
        pass_fds=(to_browser, to_us), env={**os.environ, **here}, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    os.close(to_browser)
    os.close(to_us)
    page = Page(from_us, from_browser)
    try:
        page.open(url)
        yield page
    finally:
        started.kill()
        started.wait()
        os.close(from_us)
        os.close(from_browser)
