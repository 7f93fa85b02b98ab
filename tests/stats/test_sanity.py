import pytest

from measurand.stats.sanity import implausible


@pytest.mark.parametrize(
    "numbers",
    [
        {"em": 0.62, "f1": 0.55},
        {"F1": 0.55, "EM": 0.62},
        {"exact_match": 0.6, "f1": 0.5},
        {"squad_em_v2": 0.6, "squad_f1_v2": 0.5},
        {"prompt_strict": 0.6, "prompt_loose": 0.5},
        {"pass_at_1": 0.6, "pass_at_10": 0.5},
        {"recall@5": 0.9, "recall@20": 0.8},
    ],
)
def test_what_cannot_be_is_flagged(numbers):
    (sentence,) = implausible(numbers)
    assert all(name in sentence for name in numbers)


@pytest.mark.parametrize(
    "numbers",
    [
        {"em": 0.55, "f1": 0.62},
        {"em": 0.6, "f1": 0.6},
        {"em": None, "f1": 0.5},
        {"em": 0.6, "squad_f1": 0.5},
        {"temperature": 0.6, "f1": 0.5},
        {"ndcg@5": 0.6, "ndcg@20": 0.5},
        {"prompt_strict": 0.6, "instruction_loose": 0.5},
        {"pass_at_1": 0.4, "pass_at_10": 0.5, "recall_at_1": 0.9},
        {},
    ],
)
def test_what_can_be_is_not(numbers):
    assert implausible(numbers) == ()
