"""LawBench: twenty tasks of Chinese law, from reciting articles to sentencing (Fei et al. 2023)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from measurand.core.benchmark import Aggregation, Benchmark, Card, Marking, Prompting, Scoring, Task
from measurand.core.errors import DataError
from measurand.core.item import Item, Question, Row
from measurand.core.message import user
from measurand.core.outcome import Answer
from measurand.core.record import Json
from measurand.core.request import Decode, Generate
from measurand.core.source import File
from measurand.scoring.lawbench import LAWBENCH_ANSWERED, LAWBENCH_SCORE, TASKS
from measurand.scoring.texts import ENTIRE_TEXT
from measurand.stats.metrics import ACCURACY, MEAN

LEVELS = {"1": "memorising", "2": "understanding", "3": "applying"}


def to_items(source: str, rows: Sequence[Mapping[str, Json]]) -> list[Item]:
    """Rows of instruction, question and answer, each from the file that is named after its task, as 3-1.json."""
    items = []
    for number, row in enumerate(rows):
        task = row.get("__file__", row.get("task"))
        texts = [row.get(name) for name in ("instruction", "question", "answer")]
        if task not in TASKS or not all(isinstance(text, str) for text in texts):
            message = (
                f"lawbench: row {number + 1} of {source} lacks `instruction`, `question` or `answer`, or its file is not "
                "named after a task; give the folder data/zero_shot of the official repository"
            )
            raise DataError(message)
        instruction, question, answer = texts
        items.append(
            Item(
                id=f"lawbench/{task}/{number}",
                input=Question(f"{instruction}\n{question}"),
                gold={"task": task, "answer": answer},
                slices={"task": str(task), "level": LEVELS[str(task)[0]]},
                language="zh",
                origin=Row(f"lawbench/{source}", number, made="real"),
            )
        )
    return items


def by_chat(item: Item, _: Sequence[Item]) -> tuple[Generate, ...]:
    """The instruction and the question as one user turn."""
    assert isinstance(item.input, Question)  # noqa: S101  to_items makes nothing else
    return (Generate((user(item.input.text),), decode=Decode(max_tokens=1024)),)


CARD = Card(
    title="LawBench",
    measures="knowing, understanding and applying the law of the People's Republic of China, asked in Chinese",
    blind_spots=(
        (
            "Most tasks look for names anywhere in the reply: a short reply is rewarded, and one that explains why other "
            "options are wrong is taken for undecided."
        ),
        "Five tasks are scored by overlap of words with one reference, which a right answer in other words does not have.",
        "Tasks 3-4 and 3-5 reward guessing a usual sentence.",
        "Crimes and articles are those of cases up to 2018; the law has changed since.",
    ),
    style="quiz",
    canonical_source="open-compass/LawBench on GitHub at e30981b, data/zero_shot: 20 files of 500 rows; dated by arXiv:2309.16289",
    canonical_protocol=(
        "Instruction, newline, question; greedy, no examples. Each task by the rule of its code; published is the mean of 20 task "
        "scores. Task 2-1 needs the parser ltp and is not scored here: its cell stays empty, and there is no mean of 20, "
        "only the tasks' own numbers and a pooled one with bounds over what is missing. The pooled number weighs items "
        "alike, and tasks have 485 to 500 of them."
    ),
    licence="Apache-2.0 for the repository; each task keeps the licence of its source",
    languages=("zh",),
    released="2023-09-28",
    errata=(
        "Task 2-2 is documented as F1 and coded as accuracy; 15 of its golds are of the class 赔偿, which is not offered, and are skipped.",
        "Four golds of 3-4 and of 3-5 are death or life sentences and are skipped.",
        "Names of 2-3, 2-9 and 3-3 are found inside of longer ones, so that 盗窃、侮辱尸体 also counts as 盗窃.",
        "The prompts of 2-9 and 2-10 are public, but no predictions for them.",
    ),
)

BENCHMARK = Benchmark(
    name="lawbench",
    task=Task(sources={"test": File("LawBench/data/zero_shot")}, to_items=to_items, version=1),
    asking=Prompting(
        name="instruction and question as one user turn",
        version=1,
        requests=by_chat,
        needs=frozenset({"chat"}),
        text="{{instruction}}\n{{question}}",
    ),
    scoring=Scoring(
        markings=(
            Marking("score", ENTIRE_TEXT, LAWBENCH_SCORE),
            Marking("answered", ENTIRE_TEXT, LAWBENCH_ANSWERED),
        ),
        score_truncated=True,  # what was said before the limit is searched like any reply
        score_refused=True,
    ),
    aggregation=Aggregation(metrics={"score": MEAN, "answered": ACCURACY}, groups=("task",)),
    card=CARD,
    gold_answer=lambda item: Answer(str(item.gold["answer"])),
)

VARIANTS: dict[str, Benchmark] = {
    "one_shot": replace(
        BENCHMARK,
        name="lawbench:one_shot",
        task=replace(BENCHMARK.task, sources={"test": File("LawBench/data/one_shot")}),
        asking=replace(BENCHMARK.asking, name="instruction with one example, and question, as one user turn"),
    ),
}
