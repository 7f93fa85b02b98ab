"""GSM8K: grade-school word problems (Cobbe et al. 2021), asked by chain of thought (Wei et al. 2022)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal, InvalidOperation

from measurand.asking import fill
from measurand.core.benchmark import Aggregation, Benchmark, Card, Marking, Prompting, Scoring, Task
from measurand.core.errors import DataError
from measurand.core.item import Item, Question, Row
from measurand.core.message import user
from measurand.core.outcome import Answer
from measurand.core.record import Json
from measurand.core.request import Complete, Decode, Generate
from measurand.core.source import Hub
from measurand.scoring.numbers import GSM8K_COT_STRICT, LAST_NUMBER, NUMERIC, marked_number
from measurand.stats.metrics import ACCURACY

# The eight exemplars of Wei et al. 2022, table 20, word for word: they are the protocol.
FEW_SHOT = """\
Q: There are 15 trees in the grove. Grove workers will plant trees in the grove today. After they are done, there will be 21 trees. How many trees did the grove workers plant today?
A: There are 15 trees originally. Then there were 21 trees after some more were planted. So there must have been 21 - 15 = 6. The answer is 6.

Q: If there are 3 cars in the parking lot and 2 more cars arrive, how many cars are in the parking lot?
A: There are originally 3 cars. 2 more cars arrive. 3 + 2 = 5. The answer is 5.

Q: Leah had 32 chocolates and her sister had 42. If they ate 35, how many pieces do they have left in total?
A: Originally, Leah had 32 chocolates. Her sister had 42. So in total they had 32 + 42 = 74. After eating 35, they had 74 - 35 = 39. The answer is 39.

Q: Jason had 20 lollipops. He gave Denny some lollipops. Now Jason has 12 lollipops. How many lollipops did Jason give to Denny?
A: Jason started with 20 lollipops. Then he had 12 after giving some to Denny. So he gave Denny 20 - 12 = 8. The answer is 8.

Q: Shawn has five toys. For Christmas, he got two toys each from his mom and dad. How many toys does he have now?
A: Shawn started with 5 toys. If he got 2 toys each from his mom and dad, then that is 4 more toys. 5 + 4 = 9. The answer is 9.

Q: There were nine computers in the server room. Five more computers were installed each day, from monday to thursday. How many computers are now in the server room?
A: There were originally 9 computers. For each of 4 days, 5 more computers were added. So 5 * 4 = 20 computers were added. 9 + 20 is 29. The answer is 29.

Q: Michael had 58 golf balls. On tuesday, he lost 23 golf balls. On wednesday, he lost 2 more. How many golf balls did he have at the end of wednesday?
A: Michael started with 58 golf balls. After losing 23 on tuesday, he had 58 - 23 = 35. After losing 2 more, he had 35 - 2 = 33 golf balls. The answer is 33.

Q: Olivia has $23. She bought five bagels for $3 each. How much money does she have left?
A: Olivia had 23 dollars. 5 bagels for 3 dollars each will be 5 x 3 = 15 dollars. So she has 23 - 15 dollars left. 23 - 15 is 8. The answer is 8.

Q: {{question}}
A:"""

CHAT = """\
Solve this problem. Reason step by step, and end with one line that holds nothing but #### and the answer as a number, like this:
#### 42

{{question}}"""

# lm-evaluation-harness stops gsm8k_cot at these; it allows 256 new tokens, we allow 512.
STOP = ("Q:", "</s>", "<|im_end|>")


def to_items(source: str, rows: Sequence[Mapping[str, Json]]) -> list[Item]:
    """Rows of question and answer, the gold after "#### ". Ids are places in the official order."""
    items = []
    for number, row in enumerate(rows):
        question, worked = row.get("question"), row.get("answer")
        if not isinstance(question, str) or not isinstance(worked, str):
            message = (
                f"gsm8k: row {number + 1} of {source} lacks a text in `question` or `answer`; give the official columns"
            )
            raise DataError(message)
        items.append(
            Item(
                id=f"gsm8k/{source}/{number}",
                input=Question(question),
                gold=gold_of(worked, f"row {number + 1} of {source}"),
                language="en",
                origin=Row(f"gsm8k/{source}", number, made="synthetic"),
            )
        )
    return items


def gold_of(worked: str, where: str = "a solution") -> str:
    """The number after the last "####", without thousands commas. Raises DataError where there is none."""
    stated = worked.rpartition("####")[2].replace(",", "").strip() if "####" in worked else ""
    try:
        finite = Decimal(stated).is_finite()
    except InvalidOperation:
        finite = False
    if not finite:
        message = f"gsm8k: {where} states no number after ####; mend it"
        raise DataError(message)
    return stated


def by_chain_of_thought(item: Item, _: Sequence[Item]) -> tuple[Complete, ...]:
    """The raw text prompt: eight worked examples and the question."""
    return (Complete(fill(FEW_SHOT, {"question": _question(item)}), Decode(max_tokens=512, stop=STOP)),)


def by_chat(item: Item, _: Sequence[Item]) -> tuple[Generate, ...]:
    """One user turn, no examples."""
    return (Generate((user(fill(CHAT, {"question": _question(item)})),), decode=Decode(max_tokens=2048)),)


def _question(item: Item) -> str:
    assert isinstance(item.input, Question)  # noqa: S101  to_items makes nothing else
    return item.input.text


CARD = Card(
    title="GSM8K",
    measures="solving word problems of two to eight steps of elementary arithmetic, written in English",
    blind_spots=(
        "Problems were written by people hired for it; they are not problems that anybody had.",
        "Only the final number is scored: a right number from wrong reasoning counts, and so does a wrong transcription.",
        "The test set has been public since 2021, and training on it or on copies of it is common.",
        "Strict and flexible readings can differ by many points for chat models; both are shown, neither alone.",
    ),
    style="quiz",
    canonical_source="openai/gsm8k on the Hugging Face hub, config main, 1,319 test problems (originally openai/grade-school-math); dated by arXiv:2110.14168",
    canonical_protocol=(
        "Eight fixed worked examples (Wei et al. 2022), raw text, greedy, 512 new tokens, stopped at the next Q:. "
        'Strict reads the number after "The answer is", flexible the last number. Both compare values, so 18.00 is 18; '
        "string equality, as in the paper's own code, scores a little lower."
    ),
    licence="MIT",
    released="2021-10-27",
    chance=0.0,
    errata=(
        "Some golds are wrong; estimates of one to two in a hundred are quoted, so scores near the top say little.",
    ),
)

BENCHMARK = Benchmark(
    name="gsm8k",
    task=Task(
        sources={"test": Hub("openai/gsm8k", "cc7b047b6e5bb11b4f1af84efc572db110a51b3c", ("main/test-*.parquet",))},
        to_items=to_items,
        version=1,
    ),
    asking=Prompting(
        name="chain of thought, 8 fixed shots",
        version=1,
        requests=by_chain_of_thought,
        needs=frozenset({"complete"}),
        text=FEW_SHOT,
    ),
    scoring=Scoring(
        markings=(
            Marking("strict", GSM8K_COT_STRICT, NUMERIC),
            Marking("flexible", LAST_NUMBER, NUMERIC),
        ),
        score_truncated=True,  # a base model runs on past its answer; what it said first counts
        score_refused=True,
    ),
    aggregation=Aggregation(metrics={"strict": ACCURACY, "flexible": ACCURACY}),
    card=CARD,
    gold_answer=lambda item: Answer(f"The answer is {item.gold}."),
)

VARIANTS: dict[str, Benchmark] = {
    "chat": replace(
        BENCHMARK,
        name="gsm8k:chat",
        asking=Prompting(
            name="zero-shot chat",
            version=1,
            requests=by_chat,
            needs=frozenset({"chat"}),
            text=CHAT,
        ),
        scoring=Scoring(
            markings=(
                Marking("strict", marked_number("####"), NUMERIC),
                Marking("flexible", LAST_NUMBER, NUMERIC),
            ),
            score_truncated=False,  # the answer comes last, so a reply cut short has not given it
            score_refused=True,
        ),
        gold_answer=lambda item: Answer(f"#### {item.gold}"),
    ),
}
