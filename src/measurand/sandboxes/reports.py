"""Reads the JUnit file that a test runner has written. Whoever wrote it had strangers in his process."""

from __future__ import annotations

from xml.etree import ElementTree as ET

_ENDS = {"failure": "failed", "error": "error", "skipped": "skipped"}
_WORST = ("passed", "skipped", "failed", "error")


class ReportError(Exception):
    """The file is no report."""


def parse_junit(data: bytes) -> dict[str, str]:
    """How each test ended: `passed`, `skipped` (expected failures too), `failed` or `error`, by name.

    A name is `file::Class::test` where the runner gives the file, as pytest does, else `class::test`. Where a test
    is reported more than once, the worst counts. Raises ReportError for anything but a whole document.
    """
    if b"<!" in data.replace(b"<![CDATA[", b"").replace(b"<!--", b""):
        raise ReportError("it declares a document type")
    try:
        root = ET.fromstring(data)  # noqa: S314 - see above
    except (ET.ParseError, ValueError, LookupError) as error:
        raise ReportError("it is no whole XML document") from error
    found: dict[str, str] = {}
    for case in root.iter("testcase"):
        name = _name(case.get("file", ""), case.get("classname", ""), case.get("name", ""))
        end = max((_ENDS.get(child.tag, "passed") for child in case), key=_WORST.index, default="passed")
        found[name] = max(end, found.get(name, "passed"), key=_WORST.index)
    return found


def _name(file: str, classname: str, name: str) -> str:
    if not file:
        return f"{classname}::{name}"
    module = file.removesuffix(".py").replace("/", ".")
    inner = classname.removeprefix(module).lstrip(".") if classname.startswith(module) else ""
    return "::".join([file, *filter(None, inner.split(".")), name])
