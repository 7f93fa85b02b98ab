"""Faults of data: prompts against their checks, and golds that their length gives away."""

import itertools
import math

import numpy as np
import pytest

from measurand.core.errors import InputError
from measurand.scoring.data_faults import constraint_faults, giveaway, longest
from tests.benchmarks.programs import lines


@pytest.mark.parametrize(
    ("prompt", "arguments", "faults"),
    [
        ("Write at least 400 words.", {"relation": "at least", "num_words": 400}, 0),
        ("Write at least 1,200 words.", {"relation": "at least", "num_words": 1200}, 0),
        ("Write four hundred and fifty words.", {"num_words": 450}, 0),
        ("Use the word once, in three paragraphs.", {"frequency": 1, "num_paragraphs": 3}, 0),
        ("Write at least 400 words.", {"relation": "at least", "num_words": 350}, 1),
        ("Write fewer than ten sentences.", {"relation": "at least", "num_sentences": 10}, 1),
        ("Write ten sentences or more.", {"relation": "less than", "num_sentences": 10}, 1),
        ("Write no less than ten sentences.", {"relation": "at least", "num_sentences": 10}, 0),
        ("Give exactly 3 bullets, and use lots of bullets.", {"num_bullets": 3}, 1),
        ("Answer in one line.", {"language": "sw"}, 0),
        ("Repeat the request.", {"prompt_to_repeat": "x", "flag": True, "none": None}, 0),
    ],
)
def test_prompts_that_disagree_with_their_check(prompt: str, arguments: dict[str, object], faults: int) -> None:
    assert len(constraint_faults(prompt, arguments)) == faults


def test_of_the_real_prompts_few_are_flagged() -> None:
    """IFEval's own prompts state their numbers, but for the errata that are known."""
    rows = lines("ifeval/input_data.jsonl")
    flagged = [row["key"] for row in rows if any(constraint_faults(row["prompt"], kwargs) for kwargs in row["kwargs"])]
    assert len(flagged) / len(rows) < 0.2


def test_the_tail_is_that_of_all_outcomes() -> None:
    options = [2, 4, 4, 3]
    outcomes = list(itertools.product(*(range(count) for count in options)))
    for hits in range(5):
        golds = [0] * hits + [1] * (4 - hits)
        found = giveaway([0] * 4, golds, options)
        tail = sum(sum(one == 0 for one in outcome) >= hits for outcome in outcomes) / len(outcomes)
        assert found.p == pytest.approx(tail)
        assert found.share == hits / 4
        assert found.chance == pytest.approx(sum(1 / count for count in options) / 4)


def test_golds_that_are_longest_are_a_giveaway_and_random_ones_are_not() -> None:
    rng = np.random.default_rng(0)
    lengths = rng.integers(5, 80, (200, 4)).tolist()
    golds = [int(np.argmax(each)) for each in lengths]
    assert longest(lengths, golds).surprising
    assert math.isclose(longest(lengths, golds).share, 1.0)
    flagged = sum(longest(lengths, rng.integers(0, 4, 200).tolist()).surprising for _ in range(200))
    assert flagged / 200 < 0.1
    with pytest.raises(InputError, match="there is none"):
        longest([], [])
