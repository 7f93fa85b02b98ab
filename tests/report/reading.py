"""A page as a parser sees it, and as a browser does."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass, field
from html.parser import HTMLParser

from tests.needs import lacking

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--enable-logging=stderr",
)


@dataclass
class Element:
    """An element of the page's tree."""

    tag: str
    attributes: dict
    children: list = field(default_factory=list)

    def all(self, *tags):
        """The elements below with one of these tags, in order."""
        for child in self.children:
            if isinstance(child, Element):
                if child.tag in tags:
                    yield child
                yield from child.all(*tags)

    def text(self, without=()):
        """The text below, but for what stands in some elements."""
        parts = [one if isinstance(one, str) else one.text(without) for one in self.children]
        return "" if self.tag in without else "".join(parts)


class Reader(HTMLParser):
    """Counts elements, checks that they nest, and gathers what a browser would load or run."""

    VOID = frozenset({"meta", "br", "img", "link", "input", "hr", "base"})

    def __init__(self):
        super().__init__()
        self.root = Element("", {})
        self.open, self.elements, self.attributes, self.ids = [self.root], [], [], []

    def handle_starttag(self, tag, attrs):
        made = Element(tag, dict(attrs))
        self.open[-1].children.append(made)
        self.elements.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]
        self.ids += [value for name, value in attrs if name == "id"]
        if tag not in self.VOID:
            self.open.append(made)

    def handle_startendtag(self, tag, attrs):
        self.open[-1].children.append(Element(tag, dict(attrs)))
        self.elements.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]

    def handle_endtag(self, tag):
        assert self.open.pop().tag == tag

    def handle_data(self, data):
        self.open[-1].children.append(data)


def read(text: str) -> Reader:
    """A page read to its end, in which everything was closed."""
    reader = Reader()
    reader.feed(text)
    reader.close()
    assert reader.open == [reader.root]
    return reader


def browse(folder, text):
    """What the browser made of a page, its log of network requests, and its console."""
    if CHROMIUM is None:
        lacking("no Chromium on this machine")
    folder.mkdir()
    file, log = folder / "page.html", folder / "net.json"
    file.write_text(text, "utf-8", "replace")
    done = subprocess.run(
        [
            CHROMIUM,
            *FLAGS,
            f"--user-data-dir={folder / 'profile'}",
            f"--log-net-log={log}",
            "--dump-dom",
            file.as_uri(),
        ],
        capture_output=True,
        timeout=300,
        check=False,
    )
    console = [line for line in done.stderr.decode("utf-8", "replace").splitlines() if "CONSOLE" in line]
    return done.stdout.decode("utf-8", "replace"), log.read_text("utf-8", "replace"), console
