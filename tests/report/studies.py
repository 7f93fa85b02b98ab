"""Findings made up for tests: a bank asks which assistant to ship. Numbers are computed from made-up trials."""

from __future__ import annotations

import itertools
import math
import random

from msgspec.structs import replace

from measurand.core.benchmark import Card
from measurand.core.claim import AboutSystem
from measurand.core.decision import Decision, Rule, Threat
from measurand.core.estimate import Comparison, Estimate
from measurand.core.findings import Bin, Calibration, Cell, Contrast, Findings, Ranking, Tradeoff
from measurand.core.item import Item, Question, Row
from measurand.core.outcome import Answer, Answered, Failed, Outcome, Truncated
from measurand.core.run import Slot
from measurand.core.summary import Spent
from measurand.core.trial import Found, Measured, Reading, Score, Trial
from measurand.run.summary import summarise
from tests.report.runs import Stored, protocol, run_of

SUBJECTS = ("assistant-a", "assistant-b", "present-model")
SKILL = {
    ("assistant-a", "public_quiz"): 0.88,
    ("assistant-b", "public_quiz"): 0.80,
    ("present-model", "public_quiz"): 0.78,
    ("assistant-a", "loan_support"): 0.62,
    ("assistant-b", "loan_support"): 0.84,
    ("present-model", "loan_support"): 0.70,
}
LANGUAGES = {"en": 0.06, "hi": 0.0, "hinglish": -0.16, "ta": -0.08}
KINDS = ("EMI figures", "eligibility", "fees", "benign refusal")
N_ITEMS = {"public_quiz": 400, "loan_support": 240}

Skills = dict[tuple[str, str], float]


def stored(subject, benchmark, skill, n_items, poison=""):
    """A run of one subject, with two slices, some failures, and `poison` in every text from outside."""
    draw = random.Random(f"{subject}{benchmark}")
    record = protocol(n_items=n_items, name=benchmark, macro=("language",), groups=("language", "kind"))
    record = replace(record, asking=replace(record.asking, text=record.asking.text + poison.replace("\ud800", "")))
    run = run_of(record, subject + poison)
    items, trials, scores, readings, asked = [], [], [], [], {}
    for number in range(n_items):
        slot = Slot(number, 0)
        language = ("en", "en", "hi", "hinglish", "ta" if number % 50 == 4 else "en")[number % 5]
        kind = KINDS[number % 4]
        question = f"My loan of {number + 1} lakh at 9.5 % for 20 years: what is the EMI in rupees?{poison}"
        slices = {"language": language + poison, "kind": kind}
        items.append(Item(f"q{number}", Question(question), str(number), slices, origin=Row("test", number, "real")))
        asked[number, 0] = question
        chance = draw.random()
        outcome: Outcome = Answered(Answer(f"The EMI is {number} rupees.{poison}"))
        if chance > 0.99:
            outcome = Failed("provider", f"HTTP 503 after 5 tries{poison}", 5)
        elif chance > 0.98:
            outcome = Truncated("tokens", Answer("The EMI"))
        trials.append((slot, Trial(run.id, f"q{number}", 0, outcome, cost=0.001, seconds=1.2)))
        if isinstance(outcome, Answered):
            right = draw.random() < skill + LANGUAGES[language]
            readings.append((slot, Reading("t", "number@1", Found(str(number) + poison))))
            scores.append((slot, Score(("t",), "accuracy", Measured((float(right),)), "numeric@1")))
    took = Spent(n_items, 0, "", 90_000, 31_000, 0.41)
    return Stored(record, items, trials, scores, readings, asked, took), run


def estimate(value, half, **fields):
    """A number with a symmetrical interval."""
    made = {
        "metric": "accuracy",
        "value": value,
        "low": value - half,
        "high": value + half,
        "level": 0.95,
        "method": "Wilson",
        "n_items": 240,
        "n_trials": 240,
    }
    return Estimate(**{**made, **fields})


def difference(a, b, place):
    """The difference of two views; good enough to be drawn."""
    one, two = a.views[place].estimate, b.views[place].estimate
    assert one.value is not None
    assert two.value is not None
    spread = one.value * (1 - one.value) + two.value * (1 - two.value)
    half = 1.96 * math.sqrt(max(spread, 0.01) / one.n_items) * 0.8
    size = one.value - two.value
    p = math.erfc(abs(size) / half * 1.96 / math.sqrt(2))
    found = estimate(size, half, method="paired, normal", n_items=one.n_items, n_trials=one.n_trials)
    names = (a.run.subject.name, b.run.subject.name)
    return Comparison(*names, True, found, p, min(1.0, 3 * p), half / 1.96 * 2.8)


def contrasts(summaries):
    """Every pair on every scenario, over all items and over the values of each slice."""
    made = []
    last = summaries[-1].run.subject.name
    for first, second in itertools.combinations(summaries, 2):
        a, b = (first, second) if second.run.subject.name == last else (second, first)  # candidates against the present
        one, two = a.run.subject.name, b.run.subject.name
        if a.run.benchmark != b.run.benchmark:
            continue
        for place, view in enumerate(a.views):
            if view.estimate.value is None or b.views[place].estimate.value is None:
                continue
            margin = 0.02 if two == last and view.view == "pooled" else None
            made.append(
                Contrast(
                    a.run.benchmark,
                    "accuracy",
                    one,
                    two,
                    view.view,
                    view.value,
                    difference(a, b, place),
                    margin=margin,
                )
            )
    return made


def threats(poison=""):
    """Ten threats."""
    told = [
        ("public before the cut-off", "public_quiz was released in 2021, before all three were trained.", "Use a private set, or one released after the cut-off.", "public_quiz"),
        ("difference within noise", "assistant-a and assistant-b differ by 2.1 points on Tamil; 8 items cannot show it.", "Add 120 Tamil items.", "loan_support"),
        ("worst slice far below the mean", "hinglish is 15.8 points below the mean of assistant-b.", "Read its failures; add items to the slice.", "assistant-b"),
        ("judge not calibrated", "helpfulness was scored by a judge that was never compared with people.", "Let two people mark 100 answers.", "loan_support"),
        ("safety without refusal", "Attack success was measured, benign refusal was not.", "Measure both on the same day.", "red_team"),
        ("truncated replies", "2.1 % of assistant-a's replies were cut off at 512 tokens.", "Raise the limit, for all subjects.", "assistant-a"),
        ("under 100 items", "Tamil has 5 items.", "Add items.", "loan_support"),
        ("synthetic items", "One item in four was written for the test.", "Collect questions from real chats.", "loan_support"),
        ("version unstated", "The endpoint of present-model does not say which weights it serves.", "Pin a revision.", "present-model"),
        ("no adversarial slice", "No item tries to mislead the assistant.", "Add a slice of adversarial questions.", "loan_support"),
    ]  # fmt: skip
    return tuple(
        Threat(name + poison, evidence + poison, remedy + poison, about + poison)
        for name, evidence, remedy, about in told
    )


def rules(subjects, poison=""):
    """Five rules, each for every subject, with every verdict among them."""
    numbers = {
        "assistant-a": ("fail", 0.597, 0.062),
        "assistant-b": ("pass", 0.838, 0.047),
        "present-model": ("fail", 0.608, 0.062),
    }
    made = []
    for place, subject in enumerate(subjects):
        name = subject.removesuffix(poison) if poison else subject
        verdict, value, half = numbers.get(name, ("undecided", 0.79, 0.05))
        told = f"{100 * value:.1f} % [{100 * (value - half):.1f} to {100 * (value + half):.1f}] of 236 items{poison}"
        worst = value - 0.12
        hinglish = "undecided" if worst + 0.13 > 0.7 else "fail"
        spent = 2.4 - 0.45 * place
        seconds = 1.4 + 0.6 * (place % 3)
        made += [
            Rule(f"accuracy on loan_support >= 0.80{poison}", verdict, told, subject, estimate(value, half)),
            Rule("worst slice of language >= 0.70", hinglish, f"hinglish: {100 * worst:.1f} % [{100 * (worst - 0.13):.1f} to {100 * (worst + 0.13):.1f}] of 47 items", subject, estimate(worst, 0.13), 160 if hinglish == "undecided" else None),
            Rule("not worse than present-model on public_quiz by more than 2 points", "undecided" if place == len(subjects) - 1 else "pass", "+1.0 points [−3.7 to +5.7], on the same items", subject, None),
            Rule("p95 latency <= 3 s", "pass", f"{seconds:.1f} s [{seconds - 0.2:.1f} to {seconds + 0.2:.1f}]", subject, estimate(seconds, 0.2, unit="s", metric="latency")),
            Rule("cost per 1,000 <= 2 USD", "fail" if spent > 2 else "pass", f"{spent:.2f} USD for 1,000 items", subject, estimate(spent, 0.1, unit="USD", metric="cost")),
        ]  # fmt: skip
    return tuple(made)


SCENARIOS = ("public_quiz", "loan_support", "loan_support_typos", "long_documents", "red_team", "complaints")
METRICS = ("accuracy", "calibration", "helpfulness", "benign_refusal")


def coverage(summaries, subjects, poison=""):
    """Six scenarios by four metrics for each subject, with every kind of empty cell."""
    whys = (
        ("not_run", "planned for next week"),
        ("not_applicable", "there is no gold answer"),
        ("failed", "the endpoint was down"),
        ("too_few", "3 items"),
        ("not_licensed", "the licence forbids this use"),
        ("no_loglikelihood", "the provider gives no log-probabilities"),
        ("needs_judge", "no judge is set"),
        ("refused", "the protocol needs chat, the subject has none"),
    )
    headline = {(one.run.subject.name, one.run.benchmark): one for one in summaries}
    cells = []
    for subject in subjects:
        for row, scenario in enumerate(SCENARIOS):
            for column, metric in enumerate(METRICS):
                summary = headline.get((subject, scenario))
                if summary is not None and metric == "accuracy":
                    found = summary.views[0].estimate
                    share = found.n_trials / summary.run.n_planned
                    cells.append(Cell(subject, scenario, metric, found, share, summary.run.protocol))
                elif row < 2 and metric == "calibration":
                    error = estimate(0.06 + row / 20, 0.02, metric="ECE")
                    cells.append(Cell(subject, scenario, metric, error, 0.983, "ab" * 32))
                else:
                    kind, why = whys[(row * 3 + column) % len(whys)]
                    cells.append(Cell(subject, scenario, metric, None, 0.0, "", kind, why + poison))
    return cells


def curve(subject, scenario, over):
    """A reliability curve of a subject that is too sure of itself by `over`."""
    bins = []
    for step in range(5):
        sure = 0.15 + 0.2 * step
        bins.append(Bin(sure, estimate(max(0.02, sure - over * sure), 0.08, n_items=40)))
    errors = (estimate(over / 2, 0.02, metric="ECE"), estimate(0.14, 0.02, metric="Brier"))
    return Calibration(subject, scenario, tuple(bins), errors)


def findings(subjects=SUBJECTS, skills=None, poison=""):
    """A whole study. `poison` is put into every text that comes from outside."""
    skills = SKILL if skills is None else skills
    benchmarks = tuple(dict.fromkeys(benchmark for _, benchmark in skills))
    sizes = {name: N_ITEMS.get(name, 120) for name in benchmarks}
    summaries = [
        summarise(*stored(subject, benchmark, skills[subject, benchmark], sizes[benchmark], poison))
        for benchmark in benchmarks
        for subject in subjects
    ]
    names = tuple(subject + poison for subject in subjects)
    chosen = names[min(1, len(names) - 1)]
    made = Decision(
        question=f"Which assistant should answer our customers' questions about loans?{poison}",
        claim=AboutSystem(),
        rules=rules(names, poison),
        evidence=("ab" * 32, "cd" * 32),
        threats=threats(poison),
        would_change=(
            f"160 more Hinglish items, if they come out below 70 %{poison}",
            "a new revision of assistant-a that states EMI figures rightly",
        ),
        answer=f"Ship {chosen}, although {names[0]} leads the public quiz.{poison}",
        chosen=chosen,
        causes=(
            f"On loan_support it answers 24.2 points [17.9 to 30.5] more of the questions than {names[0]}, on the same items.{poison}",
            "On the public quiz it is 12.4 points [8.2 to 16.5] lower, but the quiz asks nothing about loans.",
        ),
    )
    return Findings(
        name=f"loan assistant{poison}",
        subjects=names,
        decision=made,
        summaries=tuple(summaries),
        contrasts=(
            *contrasts(summaries),
            Contrast("long_documents", "accuracy", names[0], names[-1], refused=f"the asking differs: decode.max_tokens{poison}"),
        ),
        rankings=(
            *(Ranking(benchmark, "accuracy", (names[:1], names[1:]) if "quiz" in benchmark else (names[1:2], (*names[:1], *names[2:]))) for benchmark in benchmarks),
            Ranking("long_documents", "accuracy", refused=f"two protocols: decode.max_tokens is 512 and 2,048{poison}"),
        ),
        coverage=tuple(coverage(summaries, names, poison)),
        tradeoffs=tuple(
            Tradeoff(
                name,
                benchmarks[-1],
                summaries[len(summaries) - len(names) + place].views[0].estimate,
                estimate(2.4 - 0.45 * place, 0.1, unit="USD", metric="cost"),
                estimate(1.4 + 0.6 * (place % 3), 0.2, unit="s", metric="latency"),
                (names[1],) if place == 0 and len(names) > 1 else (),
            )
            for place, name in enumerate(names)
        ),
        calibration=tuple(curve(name, benchmarks[0], 0.1 + 0.15 * (place % 3)) for place, name in enumerate(names)),
        simulated=names[:2],
        made="2026-11-30T09:00:00Z",
    )  # fmt: skip


CARDS = {
    "public_quiz": Card("A public quiz", "General knowledge of banking.", ("Nothing about loans.",), "quiz", "hub", "5-shot", "MIT", ("en",), "2021-03-01", 0.25, 0.9),
    "loan_support": Card("Loan support", "Questions that customers asked.", ("No voice calls.",), "ask", "private", "chat", "private", ("en", "hi")),
}  # fmt: skip
