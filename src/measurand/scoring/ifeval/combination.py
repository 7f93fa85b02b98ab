"""Two replies in one, or the prompt and then the reply."""

from __future__ import annotations

from measurand.scoring.ifeval.given import Check, Given, text_of


def two_responses(text: str, _: Given) -> bool:
    """Exactly two different replies between ******; only the first and the last piece may be blank."""
    pieces = text.split("******")
    if not all(piece.strip() for piece in pieces[1:-1]):
        return False
    replies = [piece.strip() for piece in pieces if piece.strip()]
    return len(replies) == 2 and replies[0] != replies[1]  # noqa: PLR2004  # two were asked for


def repeat_prompt(text: str, given: Given) -> bool:
    """The reply begins with the prompt. Case and white space around do not matter."""
    return text.strip().lower().startswith(text_of(given, "prompt_to_repeat").strip().lower())


CHECKS: dict[str, Check] = {"combination:two_responses": two_responses, "combination:repeat_prompt": repeat_prompt}
