import tracemalloc
from collections import defaultdict

import numpy as np
import pytest

from measurand.core.benchmark import Metric
from measurand.core.errors import InputError, ReportError
from measurand.core.identity import canonical
from measurand.core.item import Item, Question
from measurand.core.outcome import Answer, Answered, NotRun, Truncated
from measurand.core.protocol import MarkingPart
from measurand.core.run import Slot
from measurand.core.trial import Measured, Missing, Score, Trial
from measurand.report.rows import trial_rows
from measurand.report.wording import view_name
from measurand.run.summary import summarise
from measurand.run.tables import MOST_VALUES
from measurand.stats.intervals import wilson
from measurand.stats.metrics import mean_within
from measurand.stats.sums import weighted_mean
from measurand.store import open_store
from measurand.store.memory import MemoryStore
from tests.growth import assert_grows_gently
from tests.report.runs import SUBJECTS, Stored, plain, protocol, rich, run_of


def view(summary, name, value="", metric="accuracy"):
    found = [v for v in summary.views if (v.view, v.value, v.estimate.metric) == (name, value, metric)]
    assert len(found) == 1
    return found[0].estimate


def grouped(sizes: dict[str, tuple[int, int, int]], **choices):
    """A run with a slice `subject`: for each value, how many right, wrong and failed."""
    values, names = [], []
    for name, (right, wrong, failed) in sizes.items():
        values += [1.0] * right + [0.0] * wrong + [None] * failed
        names += [name] * (right + wrong + failed)
    store, run = plain(values, **choices)
    store.item_list = [Item(f"q{n}", Question("?"), "1", {"subject": name}) for n, name in enumerate(names)]
    return store, run


def test_pooled_and_macro_stand_side_by_side():
    store, run = grouped({"law": (180, 20, 0), "art": (30, 70, 0), "sea": (20, 30, 0)}, macro=("subject",))
    summary = summarise(store, run)
    assert summary.views[0].view == "pooled"
    assert view(summary, "pooled").value == pytest.approx(0.6571, abs=5e-5)
    assert view(summary, "macro:subject").value == pytest.approx(0.5333, abs=5e-5)
    law = view(summary, "slice:subject", "law")
    assert (law.value, law.low, law.high) == pytest.approx((0.9, *wilson(0.9, 200)))


def test_a_macro_that_lacks_a_group_is_refused_and_noted():
    store, run = grouped({"law": (5, 5, 0), "art": (7, 3, 0), "sea": (0, 0, 4)}, macro=("subject",))
    summary = summarise(store, run)
    assert view(summary, "macro:subject").value is None
    assert view(summary, "slice:subject", "sea").value is None
    assert view(summary, "slice:subject", "sea").bounds == (0.0, 1.0)
    assert any("2 of 3" in note for note in summary.notes)


def test_nested_groups_are_declared_and_shown():
    """Two subjects in one category and one in another: (mean of 0.9 and 0.3, with 0.4) is 0.5, their mean 0.533."""
    store, run = grouped(
        {"law": (180, 20, 0), "art": (30, 70, 0), "sea": (20, 30, 0)},
        macro=("category>subject", "subject", "x>subject"),
    )
    for item in store.item_list:
        item.slices["category"] = "far" if item.slices["subject"] == "sea" else "near"
    summary = summarise(store, run)
    made = view(summary, "macro:category>subject")
    assert made.value == pytest.approx((0.6 + 0.4) / 2)
    assert made.low < made.value < made.high
    assert view(summary, "macro:subject").value == pytest.approx(0.5333, abs=5e-5)
    assert not any(one.view == "macro:x>subject" for one in summary.views)
    assert "The protocol groups by x, which no item names." in summary.notes
    names = [view_name(one) for one in summary.views]
    assert "unweighted mean over category, then over subject" in names


def test_the_tally_adds_up_and_gives_reasons():
    summary = summarise(*rich())
    tally = summary.tally
    assert tally.total == tally.planned == sum(SUBJECTS.values())
    assert sum(tally.reasons.values()) == tally.planned - tally.answered
    assert tally.reasons["failed in provider: HTTP 503 after 5 tries"] == tally.failed


def test_trials_without_a_row_were_not_run():
    store, run = plain([1.0] * 6)
    store.trial_list, store.score_list = store.trial_list[:4], store.score_list[:4]
    summary = summarise(store, run)
    assert (summary.tally.not_run, summary.tally.reasons) == (2, {"not run: not started": 2})
    assert view(summary, "pooled").n_missing == 2
    assert view(summary, "pooled").bounds == pytest.approx((4 / 6, 1.0))


def test_trials_that_wait_are_not_run_either():
    store, run = plain([1.0, 1.0])
    slot, trial = store.trial_list[1]
    store.trial_list[1] = slot, Trial(run.id, trial.item, 0, NotRun("waiting for annotators", "people"))
    assert summarise(store, run).tally.reasons == {"not run: waiting for annotators": 1}


def test_what_does_not_add_up_is_not_shown():
    store, run = plain([1.0, 0.0])
    store.trial_list = [*store.trial_list, store.trial_list[0]]
    with pytest.raises(ReportError, match="add up to 3"):
        summarise(store, run)
    store, run = plain([1.0, 0.0])
    store.trial_list = [*store.trial_list, (Slot(2, 0), store.trial_list[0][1])]
    with pytest.raises(ReportError, match=r"trial 2\.0"):
        summarise(store, run)
    store, run = plain([1.0, 0.0])
    store.item_list = store.item_list[:1]
    with pytest.raises(ReportError, match="2 items and the store holds 1"):
        summarise(store, run)


@pytest.mark.parametrize("scored", [True, False])
def test_whether_truncated_answers_count_is_the_protocols_choice(scored):
    store, run = plain([1.0, 1.0, 0.0, 0.0], score_truncated=scored)
    for place in (2, 3):
        slot, trial = store.trial_list[place]
        store.trial_list[place] = slot, Trial(run.id, trial.item, 0, Truncated("tokens", Answer("cut")))
    summary = summarise(store, run)
    made = view(summary, "pooled")
    assert made.value == (0.5 if scored else 1.0)
    assert made.n_missing == (0 if scored else 2)
    assert made.bounds == (None if scored else (0.5, 1.0))
    assert any("2 truncated answers" in note for note in summary.notes)


def test_a_score_that_exists_counts_even_if_the_trial_failed():
    """aggregation-009: an errored sample that was scored stays in."""
    store, run = plain([1.0, None])
    store.score_list.append((Slot(1, 0), Score(("t",), "accuracy", Measured((0.0,)), "numeric@1")))
    made = view(summarise(store, run), "pooled")
    assert (made.value, made.n_items, made.n_missing) == (0.5, 2, 0)


def test_what_does_not_apply_is_not_missing():
    store, run = plain([1.0, 0.0, 1.0])
    store.score_list[2] = Slot(2, 0), Score(("t",), "accuracy", Missing("not_applicable"), "numeric@1")
    summary = summarise(store, run)
    made = view(summary, "pooled")
    assert (made.value, made.n_items, made.n_missing, made.bounds) == (0.5, 2, 0, None)
    assert "1 trial has no accuracy: not applicable." in summary.notes


def test_the_first_marking_is_the_headline_and_readers_are_compared():
    summary = summarise(*rich())
    assert summary.views[0].estimate.metric == "accuracy"
    strict, flexible = (view(summary, "pooled", metric=name).value for name in ("accuracy", "accuracy_flexible"))
    note = next(note for note in summary.notes if note.startswith("Read by"))
    assert f"{100 * (flexible - strict):+.1f} points" in note
    counts = {count.reader: count for count in summary.readings}
    assert counts["number_strict@2"].absent > 0
    assert counts["number_strict@2"].found + counts["number_strict@2"].absent == summary.tally.answered


def counted(samples, k, *solved):
    """What is said of pass@k where so many samples of each problem are right."""
    values = [float(number < right) for right in solved for number in range(samples)]
    summary = summarise(*plain(values, samples=samples, metrics={"accuracy": f"pass_at_{k}@1"}))
    return [note for note in summary.notes if note.startswith("pass@")]


def test_few_samples_threaten_pass_at_k():
    assert "pass@5 is estimated from 19 samples" in counted(19, 5, 1, 0)[0]
    assert counted(20, 5, 1, 0) == counted(19, 1, 3, 0) == counted(1, 1, 1, 0) == []


def test_a_saturated_pass_at_k_is_named():
    (note,) = counted(20, 5, 16, 20)
    assert note.startswith("pass@5 is saturated: every problem has fewer than 5 wrong samples of 20")
    assert counted(20, 5, 15, 20) == []
    assert "saturated" in counted(3, 1, 3, 3)[0]


def test_examples_are_wrong_unread_or_failed_and_the_same_each_time():
    summary, again = summarise(*rich()), summarise(*rich())
    assert summary.examples == again.examples
    assert len(summary.examples) <= 12
    reasons = {example.why for example in summary.examples}
    assert {"wrong answer", "no single answer could be read"} < reasons
    assert any(why.startswith("failed in provider") for why in reasons)
    wrong = next(example for example in summary.examples if example.why == "wrong answer")
    assert wrong.asked.startswith("Answer with one number.")
    assert "number_strict@2: " in wrong.reading
    assert summarise(*rich(), examples=0).examples == ()


def test_long_texts_are_cut_in_the_middle():
    store, run = plain([0.0])
    store.item_list = [Item("q0", Question("start " + "x" * 50_000 + " end"), "1")]
    asked = summarise(store, run).examples[0].asked
    assert len(asked) < 4_000
    assert asked.startswith("start")
    assert asked.endswith("end")
    assert "left out" in asked


def test_slices_with_many_values_are_left_out_unless_asked_for():
    for groups, shown in (((), False), (("author",), True)):
        store, run = plain([1.0] * 100, groups=groups)
        store.item_list = [Item(f"q{n}", Question("?"), "", {"author": f"a{n}"}) for n in range(100)]
        summary = summarise(store, run)
        assert (len([v for v in summary.views if v.view == "slice:author"]) == 100) == shown
        assert any(f"author has more than {MOST_VALUES}" in note for note in summary.notes) != shown


def test_items_without_a_slice_are_a_group_of_their_own():
    store, run = plain([1.0, 0.0, 1.0])
    store.item_list = [Item(f"q{n}", Question("?"), "", {"kind": "a"} if n else {}) for n in range(3)]
    summary = summarise(store, run)
    assert view(summary, "slice:kind", "(unstated)").value == 1.0
    assert view(summary, "slice:kind", "a").value == 0.5


def test_clusters_and_samples_are_respected():
    store, run = plain([1.0, 0.0] * 30, samples=2)
    store.item_list = [Item(f"q{n}", Question("?"), "", cluster=f"c{n // 3}") for n in range(30)]
    made = view(summarise(store, run), "pooled")
    assert (made.n_items, made.n_trials, made.n_clusters) == (30, 60, 10)


def test_what_it_took_comes_from_the_store_and_the_trials():
    assert summarise(*rich()).spent.replayed == 96
    spent = summarise(*plain([1.0, 0.0])).spent
    assert (spent.seconds, spent.cost, spent.requests) == (1.0, pytest.approx(0.002), 0)


def test_made_counts_how_the_items_came_about():
    assert summarise(*rich()).made == {"real": 106, "synthetic": 106, "unstated": 105}


def test_a_metric_of_your_own_is_handed_in():
    own = Metric("twice", 3, ("x",), mean_within, lambda rows, weights: 2 * weighted_mean(rows, weights), None, None)
    store, run = plain([1.0, 0.0, 0.5], metrics={"accuracy": "twice@3"})
    with pytest.raises(InputError, match="no metric 'twice@3'"):
        summarise(store, run)
    made = view(summarise(store, run, metrics={"accuracy": own}), "pooled")
    assert made.value == pytest.approx(1.0)
    assert made.unit == "score"


def test_values_and_rows_that_do_not_fit_are_refused():
    store, run = plain([1.0, 2.0])
    with pytest.raises(InputError, match="value out of range"):
        summarise(store, run)
    store, run = plain([1.0], metrics={"accuracy": "rate@1"})
    with pytest.raises(ReportError, match="1 numbers and its metric 2"):
        summarise(store, run)


def test_the_summary_can_be_stored():
    assert canonical(summarise(*rich()))
    assert canonical(summarise(*plain([None] * 3)))


@pytest.mark.parametrize("make", [MemoryStore, lambda: open_store(":memory:")], ids=["memory", "file"])
async def test_the_real_stores_give_the_same_summary(make):
    fake, run = rich()
    store = make()
    store.open_run(run, fake.record, fake.item_list)
    marks = defaultdict(list)
    for slot, mark in [*fake.reading_list, *fake.score_list]:
        marks[slot].append(mark)
    for slot, trial in fake.trial_list:
        store.finish(slot, trial, [], marks[slot])
    await store.flush()
    ours, theirs = summarise(fake, run), summarise(store, run)
    assert theirs.views == ours.views
    assert (theirs.tally, theirs.readings, theirs.notes, theirs.made) == (
        ours.tally,
        ours.readings,
        ours.notes,
        ours.made,
    )
    assert [(e.item, e.why, e.answer) for e in theirs.examples] == [(e.item, e.why, e.answer) for e in ours.examples]
    rows = [[(key, row[key]) for key in row if key != "run"] for row in trial_rows(store, run)]
    assert rows == [[(key, row[key]) for key in row if key != "run"] for row in trial_rows(fake, run)]
    store.close()


class Large(Stored):
    """A run with four samples for each item, made as it is read: nothing of it is held."""

    @property
    def planned(self):
        return 4 * self.record.task.n_items

    def trials(self, run):
        return (
            (Slot(n // 4, n % 4), Trial(run, f"q{n // 4}", n % 4, Answered(Answer("x" * 400))))
            for n in range(self.planned)
        )

    def scores(self, run):
        right, wrong = Measured((1.0,)), Measured((0.0,))
        draws = np.random.default_rng(1).integers(0, 2, self.planned).tolist()
        return (
            (Slot(n // 4, n % 4), Score(("t",), "accuracy", right if drawn else wrong, "numeric@1"))
            for n, drawn in enumerate(draws)
        )

    def items(self, run):
        return (Item(f"q{n}", Question("?" * 400), "1", {"subject": f"s{n % 57}"}) for n in range(self.planned // 4))


def large(n_items=50_000):
    record = protocol(
        n_items=n_items,
        samples=4,
        macro=("subject",),
        markings=(MarkingPart("accuracy", "letter@1", "exact@1"),),
    )
    return Large(record, (), (), ()), run_of(record)


def test_two_hundred_thousand_trials_are_quick():
    def summarised(n_items):
        summary = summarise(*large(n_items))
        assert summary.tally.answered == 4 * n_items
        assert len(summary.views) == 2 + 57

    assert_grows_gently(summarised, 50_000)


@pytest.mark.slow
def test_two_hundred_thousand_trials_fit_in_little_memory():
    store, run = large()
    tracemalloc.start()
    summarise(store, run)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 60_000_000
