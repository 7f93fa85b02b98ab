"""From bytes to text, strictly: UTF-8, no NUL, and every fault with its line."""

from __future__ import annotations

import codecs
import gzip
import io
import zlib

from measurand.core.errors import DataError
from measurand.data.table import Table

FREE = 64 * 2**20
"""Bytes that a compressed file may always grow to."""

RATIO = 200
"""Times its own size that it may grow to beyond that. Text seldom passes 20."""

_CHUNK = 2**20
_OTHER_ENCODINGS = (
    (codecs.BOM_UTF32_LE, "UTF-32"),
    (codecs.BOM_UTF32_BE, "UTF-32"),
    (codecs.BOM_UTF16_LE, "UTF-16"),
    (codecs.BOM_UTF16_BE, "UTF-16"),
)


def decode(data: bytes, where: str) -> str:
    """Decode UTF-8 with or without a byte-order mark. Raises DataError with the line at fault."""
    for mark, name in _OTHER_ENCODINGS:
        if data.startswith(mark):
            message = f"{where} is {name}, not UTF-8; save it as UTF-8"
            raise DataError(message)
    data = data.removeprefix(codecs.BOM_UTF8)
    if (nul := data.find(b"\0")) >= 0:
        message = f"{where}: line {_line(data, nul)} holds a NUL byte; this is not a text file, or it is damaged"
        raise DataError(message)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = _line(data, error.start)
        column = error.start - data.rfind(b"\n", 0, error.start)
        message = (
            f"{where}: line {line} is not UTF-8 (byte 0x{data[error.start]:02x} at byte {column} of the line); "
            "save the file as UTF-8"
        )
        raise DataError(message) from error


def lines(text: str) -> list[str]:
    r"""Split at \n alone, and drop the \r of a \r\n: U+2028, U+2029 and U+0085 are characters of a text."""
    return [line.removesuffix("\r") for line in text.split("\n")]


def read_txt(text: str, _where: str, *, nonfinite: bool = False) -> Table:  # noqa: ARG001  the readers' common form
    """A text file as one row, whose column `text` holds all of it, line ends as they are."""
    return Table([{"text": text}], ["the whole"]) if text else Table([], [])


def decompress(data: bytes, where: str) -> bytes:
    """Undo gzip, within bounds. Raises DataError for a damaged file and for one that grows out of all measure."""
    limit = max(FREE, RATIO * len(data))
    out = bytearray()
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as stream:
            while chunk := stream.read(_CHUNK):
                out += chunk
                if len(out) > limit:
                    message = f"{where} grows to more than {limit} bytes when decompressed; decompress it yourself"
                    raise DataError(message)
    except (OSError, EOFError, zlib.error) as error:
        message = f"{where} is not a whole gzip file ({error}); fetch it again"
        raise DataError(message) from error
    return bytes(out)


def _line(data: bytes, position: int) -> int:
    return data.count(b"\n", 0, position) + 1
