"""MATH: competition problems with an answer in LaTeX (Hendrycks et al. 2021), and its sample MATH-500."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import msgspec

from measurand.asking import fill
from measurand.core.benchmark import Aggregation, Benchmark, Card, Marking, Prompting, Scoring, Task
from measurand.core.errors import DataError
from measurand.core.item import Item, Question, Row
from measurand.core.message import user
from measurand.core.outcome import Answer
from measurand.core.record import Json
from measurand.core.request import Complete, Decode, Generate
from measurand.core.source import Hub
from measurand.core.trial import Found
from measurand.scoring.maths.reading import BOXED, MATHS_ANSWER, MINERVA_ANSWER, boxed
from measurand.scoring.maths.scorers import (
    HENDRYCKS_EQUAL,
    MATH_VERIFY_EQUAL,
    MATHS_EQUAL,
    MATHS_VOTE,
    SYMPY_EQUAL,
)
from measurand.stats.metrics import ACCURACY, majority_at

# The four exemplars of Minerva (Lewkowycz et al. 2022, appendix D.2), word for word: they are the protocol.
FEW_SHOT = r"""Problem:
Find the domain of the expression  $\frac{\sqrt{x-2}}{\sqrt{5-x}}$.

Solution: The expressions inside each square root must be non-negative. Therefore, $x-2 \ge 0$, so $x\ge2$, and $5 - x \ge 0$, so $x \le 5$. Also, the denominator cannot be equal to zero, so $5-x>0$, which gives $x<5$. Therefore, the domain of the expression is $\boxed{[2,5)}$.
Final Answer: The final answer is $[2,5)$. I hope it is correct.

Problem:
If $\det \mathbf{A} = 2$ and $\det \mathbf{B} = 12,$ then find $\det (\mathbf{A} \mathbf{B}).$

Solution: We have that $\det (\mathbf{A} \mathbf{B}) = (\det \mathbf{A})(\det \mathbf{B}) = (2)(12) = \boxed{24}.$
Final Answer: The final answer is $24$. I hope it is correct.

Problem:
Terrell usually lifts two 20-pound weights 12 times. If he uses two 15-pound weights instead, how many times must Terrell lift them in order to lift the same total weight?

Solution: If Terrell lifts two 20-pound weights 12 times, he lifts a total of $2\cdot 12\cdot20=480$ pounds of weight.  If he lifts two 15-pound weights instead for $n$ times, he will lift a total of $2\cdot15\cdot n=30n$ pounds of weight.  Equating this to 480 pounds, we can solve for $n$:
\begin{align*}
30n&=480\\
\Rightarrow\qquad n&=480/30=\boxed{16}
\end{align*}
Final Answer: The final answer is $16$. I hope it is correct.

Problem:
If the system of equations

\begin{align*}
6x-4y&=a,\\
6y-9x &=b.
\end{align*}has a solution $(x, y)$ where $x$ and $y$ are both nonzero,
find $\frac{a}{b},$ assuming $b$ is nonzero.

Solution: If we multiply the first equation by $-\frac{3}{2}$, we obtain

$$6y-9x=-\frac{3}{2}a.$$Since we also know that $6y-9x=b$, we have

$$-\frac{3}{2}a=b\Rightarrow\frac{a}{b}=\boxed{-\frac{2}{3}}.$$
Final Answer: The final answer is $-\frac{2}{3}$. I hope it is correct.

Problem:
{{problem}}

Solution:"""

CHAT = r"""Solve this problem. Reason step by step, and put your final answer, and nothing else, within \boxed{}.

{{problem}}"""

SUBJECTS = (
    "Algebra",
    "Counting & Probability",
    "Geometry",
    "Intermediate Algebra",
    "Number Theory",
    "Prealgebra",
    "Precalculus",
)


def to_items(source: str, rows: Sequence[Mapping[str, Json]]) -> list[Item]:
    """Rows of MATH (problem, level, type, solution) or of MATH-500 (which add answer, subject and unique_id)."""
    items = []
    for number, row in enumerate(rows):
        where = f"row {number + 1} of {source}"
        problem, solution, subject = row.get("problem"), row.get("solution"), row.get("subject", row.get("type"))
        if not isinstance(problem, str) or not isinstance(solution, str) or subject not in SUBJECTS:
            message = (
                f"math: {where} lacks `problem`, `solution` or a known `type` (or `subject`); give the official columns"
            )
            raise DataError(message)
        items.append(
            Item(
                id=f"math/{row.get('unique_id', f'{source}/{number}')}",
                input=Question(problem),
                gold=gold_of(row, where),
                slices={"subject": str(subject), "level": str(row.get("level")).removeprefix("Level ")},
                language="en",
                origin=Row(f"math/{source}", number, made="real"),
            )
        )
    return items


def gold_of(row: Mapping[str, Json], where: str = "a row") -> str:
    """The answer as stated, or what the last box of the solution holds. Raises DataError where there is none."""
    stated = row.get("answer")
    if isinstance(stated, str) and stated.strip():
        return stated
    finding = boxed(str(row["solution"]))
    if not isinstance(finding, Found):
        message = f"math: the solution of {where} has no \\boxed answer; mend it"
        raise DataError(message)
    return str(finding.value)


def by_minerva(item: Item, _: Sequence[Item]) -> tuple[Complete, ...]:
    """The raw text prompt: four worked examples and the problem."""
    return (Complete(fill(FEW_SHOT, {"problem": _problem(item)}), Decode(max_tokens=1024, stop=("Problem:",))),)


def by_chat(item: Item, _: Sequence[Item]) -> tuple[Generate, ...]:
    """One user turn, no examples."""
    return (Generate((user(fill(CHAT, {"problem": _problem(item)})),), decode=Decode(max_tokens=8192)),)


def by_sampling(item: Item, exemplars: Sequence[Item]) -> tuple[Generate, ...]:
    """The same, sampled."""
    (request,) = by_chat(item, exemplars)
    return (msgspec.structs.replace(request, decode=Decode(temperature=0.7, top_p=0.95, max_tokens=8192)),)


def _problem(item: Item) -> str:
    assert isinstance(item.input, Question)  # noqa: S101  to_items makes nothing else
    return item.input.text


CARD = Card(
    title="MATH",
    measures="solving problems of American school competitions, from prealgebra to precalculus, with an answer that can be checked",
    blind_spots=(
        "Only the final answer is scored: a right answer from wrong reasoning counts.",
        (
            "Checkers differ by one to five points on the same replies; a number without its checker says little. The "
            "paper's own (`hendrycks`) is the lowest, since 3,250 is not 3250 for it."
        ),
        "Public since March 2021; its problems and solutions, train and test, are on the web and in training sets.",
        "MATH-500 was set aside for a verifier whose training used the other 4,500 test problems.",
        "Diagrams are given as drawing code.",
    ),
    style="quiz",
    canonical_source=(
        "EleutherAI/hendrycks_math on the Hugging Face hub, 5,000 test problems in seven subjects (hendrycks/competition_math "
        "was taken down in January 2025); dated by arXiv:2103.03874, where people solved "
        "from 0.4 to 0.9 of 20 problems; the lower end is given here"
    ),
    canonical_protocol=(
        "Four fixed worked examples (Minerva), raw text, greedy, 1,024 new tokens, stopped at the next Problem:. The answer "
        "is what follows the first 'Final Answer: The final answer is'. Headline rule: equal as values, exactly where "
        "they are rational, at fixed points where they have letters, as far as floats tell else; tuples, intervals and "
        "matrices by place; lists and sets in any order; units, degrees, percent and dollar signs are dropped, as in the paper; "
        "x = 5 is 5; a numeral without a base is read in the gold's base; words by their letters. Beside it, the paper's canonical "
        "strings. The variant 500_libraries records sympy and math-verify too, which are known to err."
    ),
    licence="MIT",
    released="2021-03-05",
    chance=0.0,
    human=0.4,
    saturated_at=0.95,
    errata=("The paper's checker takes an answer of several numbers in another order for wrong.",),
)

_MATH = Hub("EleutherAI/hendrycks_math", "21a5633873b6a120296cce3e2df9d5550074f4a3", ("*/test-*.parquet",))
_MATH_500 = Hub("HuggingFaceH4/MATH-500", "6e4ed1a2a79af7d8630a6b768ec859cb5af4d3be", ("test.jsonl",))
_GROUPS = ("subject", "level")

BENCHMARK = Benchmark(
    name="math",
    task=Task(sources={"test": _MATH}, to_items=to_items, version=1),
    asking=Prompting(
        name="4 fixed shots (Minerva), raw text",
        version=1,
        requests=by_minerva,
        needs=frozenset({"complete"}),
        text=FEW_SHOT,
    ),
    scoring=Scoring(
        markings=(
            Marking("accuracy", MINERVA_ANSWER, MATHS_EQUAL),
            Marking("hendrycks", MINERVA_ANSWER, HENDRYCKS_EQUAL),
            Marking("lenient", MATHS_ANSWER, MATHS_EQUAL),
        ),
        score_truncated=True,  # a base model runs on past its answer; what it said first counts
        score_refused=True,
    ),
    aggregation=Aggregation(metrics={"accuracy": ACCURACY, "hendrycks": ACCURACY, "lenient": ACCURACY}, groups=_GROUPS),
    card=CARD,
    gold_answer=lambda item: Answer(
        f"\\boxed{{{item.gold}}}\nFinal Answer: The final answer is ${item.gold}$. I hope it is correct."
    ),
)

CHATTING = replace(
    BENCHMARK,
    asking=Prompting(
        name="zero-shot chat, boxed answer", version=1, requests=by_chat, needs=frozenset({"chat"}), text=CHAT
    ),
    scoring=Scoring(
        markings=(
            Marking("accuracy", BOXED, MATHS_EQUAL),
            Marking("hendrycks", BOXED, HENDRYCKS_EQUAL),
            Marking("lenient", MATHS_ANSWER, MATHS_EQUAL),
        ),
        score_truncated=False,  # the answer comes last, so a reply cut short has not given it
        score_refused=True,
    ),
)
_TASK_500 = Task(sources={"test": _MATH_500}, to_items=to_items, version=1)
_CARD_500 = msgspec.structs.replace(
    CARD,
    title="MATH-500",
    canonical_source="HuggingFaceH4/MATH-500 on the Hugging Face hub, 500 of MATH's 5,000 test problems (Lightman et al. 2023); dated by arXiv:2305.20050",
    canonical_protocol="Zero-shot chat with the answer in a box. "
    + CARD.canonical_protocol.partition("Headline rule: ")[2],
    released="2023-05-31",
)
VOTES = 8

VARIANTS: dict[str, Benchmark] = {
    "chat": replace(CHATTING, name="math:chat"),
    "500": replace(CHATTING, name="math:500", task=_TASK_500, card=_CARD_500),
    "500_minerva": replace(BENCHMARK, name="math:500_minerva", task=_TASK_500, card=_CARD_500),
    "500_libraries": replace(
        CHATTING,
        name="math:500_libraries",
        task=_TASK_500,
        card=_CARD_500,
        scoring=replace(
            CHATTING.scoring,
            markings=(
                *CHATTING.scoring.markings,
                Marking("sympy", BOXED, SYMPY_EQUAL),
                Marking("math_verify", BOXED, MATH_VERIFY_EQUAL),
            ),
        ),
        aggregation=Aggregation(
            metrics=dict.fromkeys(("accuracy", "hendrycks", "lenient", "sympy", "math_verify"), ACCURACY),
            groups=_GROUPS,
        ),
    ),
    "500_majority": replace(
        CHATTING,
        name="math:500_majority",
        task=_TASK_500,
        card=_CARD_500,
        asking=Prompting(
            name="zero-shot chat, boxed answer, sampled",
            version=1,
            requests=by_sampling,
            needs=frozenset({"chat"}),
            text=CHAT,
            samples=VOTES,
        ),
        scoring=replace(
            CHATTING.scoring,
            markings=(Marking(f"maj_at_{VOTES}", BOXED, MATHS_VOTE), Marking("accuracy", BOXED, MATHS_EQUAL)),
        ),
        aggregation=Aggregation(metrics={f"maj_at_{VOTES}": majority_at(VOTES), "accuracy": ACCURACY}, groups=_GROUPS),
    ),
}
