"""A hub on loopback: as much of its interface as reading a data set at a commit needs."""

import hashlib
import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

COMMIT = "0123456789abcdef0123456789abcdef01234567"


class Hub(ThreadingHTTPServer):
    """Serves the folders of `root` as data sets owner/name, at one commit."""

    def __init__(self, root: Path) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.root = root
        self.gated: dict[str, str] = {}
        self.tokens: set[str] = set()
        self.requests = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Hub

    def do_GET(self) -> None:
        self.answer(with_body=True)

    def do_HEAD(self) -> None:
        self.answer(with_body=False)

    def answer(self, *, with_body: bool) -> None:
        token = self.headers.get("Authorization", "")
        self.server.tokens.add(token)
        steps = unquote(urlsplit(self.path).path).strip("/").split("/")
        listing = steps[0] == "api"
        repo = "/".join(steps[2:4] if listing else steps[1:3])
        if len(steps) < 6:  # the client asks in passing for things that have nothing to do with data sets
            self.say(404, b"", {})
            return
        self.server.requests += 1
        revision, path = (steps[5], "") if listing else (steps[4], "/".join(steps[5:]))
        folder = self.server.root / repo
        if repo in self.server.gated and token != f"Bearer {self.server.gated[repo]}":
            self.say(403 if token else 401, b"", {"X-Error-Code": "GatedRepo"})
        elif not folder.is_dir():
            self.say(404, b"", {"X-Error-Code": "RepoNotFound"})
        elif revision != COMMIT:
            self.say(404, b"", {"X-Error-Code": "RevisionNotFound"})
        elif listing:
            self.say(200, json.dumps(list(map(self.entry, files_of(folder)))).encode(), {}, body=with_body)
        elif not (folder / path).is_file():
            self.say(404, b"", {"X-Error-Code": "EntryNotFound"})
        else:
            data = (folder / path).read_bytes()
            named = {"ETag": f'"{hashlib.sha1(data).hexdigest()}"', "X-Repo-Commit": COMMIT}
            self.say(200, data, named, body=with_body)

    def entry(self, file: Path) -> dict[str, object]:
        data = file.read_bytes()
        path = file.relative_to(self.server.root).parts[2:]
        return {"type": "file", "path": "/".join(path), "size": len(data), "oid": hashlib.sha1(data).hexdigest()}

    def say(self, status: int, data: bytes, headers: dict[str, str], *, body: bool = True) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if body:
            self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def files_of(folder: Path) -> list[Path]:
    return sorted(file for file in folder.rglob("*") if file.is_file())
