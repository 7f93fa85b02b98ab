"""MMLU by texts, against what texts are worth alone, in every order, and with confidence: the requests and the sums."""

from typing import Any

import pytest

from measurand.benchmarks.mmlu import BENCHMARK, VARIANTS, to_items
from measurand.core.benchmark import Prompting
from measurand.core.call import Reply
from measurand.core.item import Item
from measurand.core.request import Loglikelihood
from measurand.core.trial import Measured

ROW = {"question": "Which?", "subject": "anatomy", "choices": ["one", "two", "three", "four"], "answer": 2}
SHOT = {"question": "Before?", "subject": "anatomy", "choices": ["w", "x", "y", "z"], "answer": 3}
(ASKED,), (EXEMPLAR,) = to_items("test", [ROW]), to_items("dev", [SHOT])
TEXTS = (" one", " two", " three", " four")


def requests(variant: str) -> tuple[Loglikelihood, ...]:
    asking = VARIANTS[variant].asking
    assert isinstance(asking, Prompting)
    made = asking.requests(ASKED, (EXEMPLAR,))
    assert all(isinstance(one, Loglikelihood) for one in made)
    return made  # type: ignore[return-value]


def scores(variant: str, values: list[tuple[float, ...]], **more: Any) -> dict[str, tuple[float, ...]]:
    benchmark = VARIANTS[variant]
    asking = benchmark.asking
    assert isinstance(asking, Prompting)
    replies = [Reply(values=one, **more) for one in values]
    answer = asking.answer(ASKED, replies) if asking.answer else None
    from measurand.core.outcome import Answer

    answer = answer or Answer(values=replies[0].values, counts=replies[0].counts)
    rows = {}
    for marking in benchmark.scoring.markings:
        score = marking.scorer.score(ASKED, marking.reader.read(ASKED, answer))  # type: ignore[union-attr]
        assert isinstance(score, Measured)
        rows[marking.metric] = score.row
    return rows


def test_by_text() -> None:
    (request,) = requests("text")
    assert request.continuations == TEXTS
    assert request.context.endswith("Question: Before?\nAnswer: z\n\nQuestion: Which?\nAnswer:")
    assert scores("text", [(-9.0, -2.9, -3.0, -9.0)], counts=(1, 1, 2, 1)) == {
        "accuracy": (0.0,),
        "accuracy_per_byte": (1.0,),
        "accuracy_per_character": (1.0,),
        "accuracy_per_token": (1.0,),
    }


def test_against_what_the_texts_are_worth_alone() -> None:
    asked, alone = requests("pmi")
    assert (alone.context, alone.continuations) == ("Answer:", TEXTS)
    assert asked == requests("text")[0]
    assert scores("pmi", [(-1.0, -2.0, -5.0, -9.0), (-1.0, -3.0, -9.0, -9.0)]) == {"accuracy": (1.0,)}


@pytest.mark.parametrize(("variant", "count"), [("cyclic", 4), ("orders", 24)])
def test_every_order_is_one_request_of_the_trial(variant: str, count: int) -> None:
    made = requests(variant)
    assert len(set(made)) == count
    official = BENCHMARK.asking.requests(ASKED, (EXEMPLAR,))  # type: ignore[union-attr]
    assert made[0] == official[0]
    assert len({one.context[: one.context.index("Which?")] for one in made}) == 1  # the exemplars stay

    def knows(request: Loglikelihood) -> tuple[float, ...]:
        shown = request.context.rpartition("Which?")[2]
        return tuple(0.0 if f"{letter}. three" in shown else -5.0 for letter in "ABCD")

    assert scores(variant, [knows(one) for one in made]) == {"accuracy": (1.0,), "same_choice": (1.0,)}
    assert scores(variant, [(0.0, -1.0, -1.0, -1.0)] * count) == {"accuracy": (0.25,), "same_choice": (0.0,)}


def test_confidence_beside_the_same_letters() -> None:
    assert requests("confidence") == BENCHMARK.asking.requests(ASKED, (EXEMPLAR,))  # type: ignore[union-attr]
    found = scores("confidence", [(-50.0, -50.0, 0.0, -50.0)])
    assert found["accuracy"] == (1.0,)
    assert found["brier"] == found["rms_calibration_error"] == pytest.approx((1.0, 1.0))
    assert list(VARIANTS["confidence"].aggregation.metrics) == ["accuracy", "brier", "rms_calibration_error"]


def test_each_way_is_a_protocol_of_its_own() -> None:
    names = {VARIANTS[name].asking.name for name in ("text", "pmi", "cyclic", "orders")}
    assert len(names | {BENCHMARK.asking.name}) == 5
    assert isinstance(ASKED, Item)
