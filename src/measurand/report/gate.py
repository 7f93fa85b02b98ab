"""A gate's result for the tools around it: Markdown for a person, JUnit XML for a machine."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

from measurand.core.decision import Gate, Rule
from measurand.core.identity import short

WORDS = {"pass": "passes", "fail": "fails", "undecided": "cannot say"}
MARKS = {"pass": "✅ pass", "fail": "❌ fail", "undecided": "❔ cannot say"}
FORBIDDEN = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that no XML may hold."""


def headline(gate: Gate) -> str:
    """The result in one line: what of whom passes, fails or cannot be told."""
    return f"The gate {WORDS[gate.verdict]}: {gate.subject} on {gate.benchmark}"


def terms(gate: Gate) -> str:
    """How far the gate may err, in one line."""
    told = f"run {short(gate.run)}, protocol {short(gate.protocol)}"
    if gate.margin is None:
        return told
    return (
        f"{told}, baseline run {short(gate.baseline)}; margin {100 * gate.margin:g} points, at most "
        f"{100 * gate.false_alarm:g} % of changes within it fail"
    )


def markdown(gate: Gate) -> str:
    """A table of the checks, as for the summary of a pipeline."""
    rows = [f"| {MARKS[check.verdict]} | {_cell(check.text)} | {_cell(_because(check))} |" for check in gate.checks]
    return "\n".join(
        [f"### {_cell(headline(gate))}", "", "| | check | because |", "|---|---|---|", *rows, "", terms(gate), ""]
    )


def junit(gate: Gate) -> str:
    """JUnit XML: a failed check is a failure, one that cannot be told an error."""
    counts = {kind: sum(check.verdict == kind for check in gate.checks) for kind in WORDS}
    suite = ET.Element(
        "testsuite",
        name=_clean(f"measurand gate: {gate.benchmark}"),
        tests=str(len(gate.checks)),
        failures=str(counts["fail"]),
        errors=str(counts["undecided"]),
    )
    for check in gate.checks:
        case = ET.SubElement(suite, "testcase", classname=_clean(gate.subject), name=_clean(check.text))
        if check.verdict != "pass":
            tag = "failure" if check.verdict == "fail" else "error"
            ET.SubElement(case, tag, message=_clean(_because(check)), type=check.verdict)
        else:
            ET.SubElement(case, "system-out").text = _clean(_because(check))
    ET.indent(suite)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(suite, encoding="unicode") + "\n"


def _because(check: Rule) -> str:
    more = f"; about {check.needs:,} further items would decide" if check.needs else ""
    return f"{check.because}{more}"


def _clean(text: str) -> str:
    return FORBIDDEN.sub("\ufffd", text)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")
