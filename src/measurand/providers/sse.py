"""Server-sent events, as model endpoints write them."""

from __future__ import annotations


class Events:
    """Cuts a stream of bytes into the payloads of its `data:` lines.

    Each line is a payload of its own: every vendor writes one JSON text a line, and some servers leave out
    the empty line that the standard wants between events. Names of events, ids and comments are passed over;
    each payload says by itself what it is.
    """

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def feed(self, chunk: bytes) -> list[bytes]:
        """The payloads that this chunk completes. Linear in the bytes fed, however small the chunks."""
        if b"\n" not in chunk and b"\r" not in chunk:
            self._pieces.append(chunk)
            return []
        self._pieces.append(chunk)
        *lines, rest = b"".join(self._pieces).replace(b"\r", b"\n").split(b"\n")
        self._pieces = [rest]
        return _payloads(lines)

    def finish(self) -> list[bytes]:
        """The payload of a last line that no line break ended."""
        rest, self._pieces = b"".join(self._pieces), []
        return _payloads([rest])


def _payloads(lines: list[bytes]) -> list[bytes]:
    return [payload for line in lines if line.startswith(b"data:") and (payload := line[5:].strip())]
