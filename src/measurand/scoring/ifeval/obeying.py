"""Texts that follow constraints and texts that do not, so that the checks themselves can be checked."""

from __future__ import annotations

import json
from collections.abc import Iterable

from measurand.core.record import Json
from measurand.scoring.ifeval.given import Given
from measurand.scoring.ifeval.kinds import follows

_LINE = "this is the day that we have been waiting for"
_SHORT = "it is so."


def obedient(constraints: Iterable[tuple[str, Given]]) -> str:
    """A text of our making that follows the constraints, if they can be met without another language."""
    wanted = {kind.partition(":")[2]: given for kind, given in constraints}
    chunks = _chunks(wanted, [line for line in _lines(wanted) if line])
    text = ("\n\n" if "nth_paragraph_first_word" in wanted else "\n***\n").join(chunks)
    if "two_responses" in wanted:
        text = f"{text}\n******\n{text} again"
    text = _cased(text, wanted)
    if "repeat_prompt" in wanted:
        text = f"{wanted['repeat_prompt']['prompt_to_repeat']}\n{text}"
    if "no_comma" in wanted:
        text = text.replace(",", "")
    text += f"\n{wanted['end_checker']['end_phrase']}" if "end_checker" in wanted else ""
    if "json_format" in wanted:
        return json.dumps(text, ensure_ascii=False)
    return f'"{text}"' if "quotation" in wanted else text


def _lines(wanted: dict[str, Given]) -> list[str]:
    """One line for each thing that has to be there."""
    lines = ["<<the day>>"] * ("title" in wanted)
    lines += ["My answer is yes."] * ("constrained_response" in wanted)
    lines += [" ".join(map(str, wanted.get("existence", {}).get("keywords") or ()))]
    lines += [_times(wanted, "frequency", "frequency", f"{wanted.get('frequency', {}).get('keyword')} ", "relation")]
    letter = f"{wanted.get('letter_frequency', {}).get('letter')} "
    lines += [_times(wanted, "letter_frequency", "let_frequency", letter, "let_relation")]
    lines += [_times(wanted, "capital_word_frequency", "capital_frequency", "DAY ", "capital_relation")]
    lines += [_times(wanted, "number_words", "num_words", f"{_LINE} ", "relation")]
    lines += [_times(wanted, "number_sentences", "num_sentences", "This is so. ", "relation")]
    lines += [_times(wanted, "number_placeholders", "num_placeholders", "[name] ")]
    lines += [_times(wanted, "number_highlighted_sections", "num_highlights", "see *the day*\n")]
    lines += [_times(wanted, "number_bullet_lists", "num_bullets", "- the day\n")]
    sections = wanted.get("multiple_sections", {})
    numbers = range(1, 1 + _number(sections.get("num_sections", 0)))
    lines += [f"{sections.get('section_spliter')} {number}\n{_LINE}" for number in numbers]
    lines += [f"{wanted['postscript']['postscript_marker']} {_LINE}"] if "postscript" in wanted else []
    return lines


def _times(wanted: dict[str, Given], kind: str, count: str, piece: str, relation: str = "") -> str:
    given = wanted.get(kind)
    if given is None or (relation and given.get(relation) != "at least"):
        return ""
    return (piece * _number(given.get(count, 0))).strip()


def _number(value: Json) -> int:
    return int(value) if isinstance(value, int | float) else 0


def _chunks(wanted: dict[str, Given], lines: list[str]) -> list[str]:
    """The lines as one chunk, and as many others as there are to be paragraphs."""
    text = "\n".join(lines) or _LINE
    if (given := wanted.get("nth_paragraph_first_word")) is not None:
        chunks = [_SHORT] * _number(given.get("num_paragraphs", 0))
        nth = _number(given.get("nth_paragraph", 1)) - 1
        chunks[nth] = f"{given.get('first_word')} {_SHORT}"
        chunks[-1] += f"\n{text}" if lines else ""
        return chunks
    extra = _number(wanted.get("number_paragraphs", {}).get("num_paragraphs", 1)) - 1
    return [text, *[_SHORT] * extra]


def _cased(text: str, wanted: dict[str, Given]) -> str:
    if "english_capital" in wanted:
        return text.upper()
    return f"{_LINE}\n{text}".lower() if "english_lowercase" in wanted else text


def unruly(constraints: Iterable[tuple[str, Given]]) -> str:
    """A text of our making that follows none of the constraints, or as few as were found."""
    wanted = list(constraints)
    words = ", ".join(str(word) for _, given in wanted for value in given.values() for word in _texts(value))
    short = "No, This is not it."
    long = f"{short} {words} {'i' * 99} NOT AT ALL\n" * 70
    candidates = [short, f"{short} {words}.", long, f"x\n\n{long}", "No, This Is Not It " * 500, "NO, NOT. " * 200]
    return min(candidates, key=lambda text: sum(follows(kind, text, given) for kind, given in wanted))


def _texts(value: Json) -> list[str]:
    return [one for one in (value if isinstance(value, list | tuple) else [value]) if isinstance(one, str)]
