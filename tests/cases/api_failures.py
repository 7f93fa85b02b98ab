"""Theme api-failures: what becomes of a trial when the endpoint misbehaves. Over real HTTP, through the engine."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from measurand.core.outcome import Answered, Blocked, Failed, Outcome, Refused, Truncated, answer_of
from measurand.core.summary import Summary
from measurand.core.trial import Measured
from measurand.providers.connecting import HttpOptions, Timeouts
from measurand.providers.openai_compatible import OpenAICompatible, OpenAIOptions
from measurand.run.limits import RunLimits
from measurand.run.session import carry_out
from measurand.run.summary import summarise
from tests.providers.server import Answer, Server, as_json
from tests.run.world import engine

Json = dict[str, Any]
GOOD = {"choices": [{"message": {"content": "B"}, "finish_reason": "stop"}]}
HASTY = HttpOptions(timeouts=Timeouts(read=0.3))
REASONS = {
    "choices": "no_choices",
    "certificate": "certificate",
    "within": "timeout",
    "timeouts.read": "timeout",
    "key": "auth",
    "context": "context_length",
    "reached": "connection",
}


def api_failures(case: Json) -> Json:
    """Run the case's samples one after another, each against its own scripted replies."""
    return asyncio.run(_run(case))


async def _run(case: Json) -> Json:
    samples = int(case.get("samples", 1))
    scripts = [_script(case, number) for number in range(1, samples + 1)]
    limits = RunLimits(concurrency=1, max_tries=int(case.get("max_retries", 5)) + 1)
    outcomes: list[Outcome] = []
    calls = 0
    with _no_waiting():
        for number, script in enumerate(scripts):
            async with Server(*script) as server:
                http = HASTY if any(answer.how == "hang" for answer in script) else HttpOptions()
                options = OpenAIOptions("m", base_url=f"{server.url}/v1", stream="stream" in case, http=http)
                made = engine(OpenAICompatible(options), n=1, limits=limits)
                await carry_out(made)
                calls += len(server.heard)
            summary = summarise(made.ports.store, made.run)
            outcomes += [trial.outcome for _, trial in made.ports.store.trials(made.run.id)]
            scored = [score.value for _, score in made.ports.store.scores(made.run.id)]
            if number == 0:
                first, first_scores = summary, scored
    return _said(case, outcomes, calls, first, first_scores)


def _said(case: Json, outcomes: list[Outcome], calls: int, summary: Summary, scores: list[Any]) -> Json:
    outcome = outcomes[0]
    answer = answer_of(outcome)
    failed = [number for number, one in enumerate(outcomes, 1) if isinstance(one, Failed)]
    measured = [score.row[0] for score in scores if isinstance(score, Measured)]
    return {
        "calls": calls,
        "text": answer.text if answer else None,
        "status": _status(outcome, streamed="stream" in case),
        "reason": _reason(outcome),
        "score": measured[0] if measured and isinstance(outcome, Answered) else None,
        "counts_in": [
            f"n_{name}"
            for name in ("answered", "truncated", "refused", "blocked", "failed")
            if getattr(summary.tally, name)
        ],
        "completed": [number for number in range(1, len(outcomes) + 1) if number not in failed],
        "errors": failed,
        "run_finished": True,
        "no_exception": True,
    }


def _status(outcome: Outcome, *, streamed: bool) -> str:
    match outcome:
        case Answered(answer=answer):
            return "ok" if answer.text else "no_text"
        case Truncated():
            return "truncated"
        case Refused():
            return "refused"
        case Blocked():
            return "blocked"
        case _:
            return "incomplete" if streamed else "error"


def _reason(outcome: Outcome) -> str | None:
    if not isinstance(outcome, Failed):
        return None
    return next((reason for word, reason in REASONS.items() if word in outcome.why), outcome.where)


def _script(case: Json, number: int) -> list[Answer]:
    """The scripted answers of one sample; a sample without a script of its own gets a good reply."""
    if "stream" in case:
        body = "".join(f"{line}\n\n" for line in case["stream"]).encode()
        return [Answer(body, 200, {"Content-Type": "text/event-stream"})]
    replies = case.get(f"replies_for_sample_{number}", case.get("replies") if number == 1 else None)
    return [_answer(reply) for reply in replies] if replies else [as_json(GOOD)]


def _answer(reply: Json) -> Answer:
    headers = {str(name): str(value) for name, value in reply.get("headers", {}).items()}
    if "text" in reply:
        return Answer(reply["text"].encode(), reply.get("status", 200), headers)
    if reply.get("hang") or reply.get("timeout"):
        return Answer(how="hang")
    return as_json(reply.get("body", {}), reply.get("status", 200), **headers)


@contextmanager
def _no_waiting() -> Iterator[None]:
    with (
        patch("measurand.run.doors.retry.FIRST_WAIT", 0.0005),
        patch("measurand.run.doors.limiter.LONGEST_PAUSE", 0.01),
    ):
        yield
