"""Make the SIMULATED replies of two subjects that do not exist, so that the decision example runs without a model.

A is good at a public quiz (HumanEval) and poor at the bank's questions; B is the other way round. Nobody gave these
replies: a right or a wrong answer is drawn for each item with the chances in SKILLS, always with the same seed.

    python examples/loan_support/simulate.py [FOLDER]      writes simulated-a.jsonl and simulated-b.jsonl
"""

import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path

from measurand.core.item import Item, Question
from measurand.core.record import Json
from measurand.core.request import Generate
from measurand.data import open_data
from measurand.run.prepare import prepare
from measurand.study.content import load_benchmark
from measurand.study.load import load_study
from measurand.study.private_set import private_benchmark

HERE = Path(__file__).parent
SEED = 20261130
QUIZ = "humaneval:chat"

Skills = dict[tuple[str, str], float]
SKILLS: dict[str, Skills] = {
    "simulated-a": {
        ("quiz", ""): 0.93,
        ("emi", "english"): 0.70,
        ("emi", ""): 0.40,
        ("benign", ""): 0.45,
        ("fraud", ""): 0.97,
        ("", "english"): 0.90,
        ("", "hindi"): 0.80,
        ("", ""): 0.65,
    },
    "simulated-b": {("quiz", ""): 0.74, ("emi", ""): 0.96, ("", ""): 0.96},
}
"""The chance of a right answer by kind and variety; the first that fits counts, an empty name fits all."""
REFUSAL = "I am sorry, I cannot help with that."


def simulate(name: str) -> Iterator[dict[str, Json]]:
    """The replies of one simulated subject to the quiz and to the bank's questions, as a replay file holds them."""
    draw = random.Random(f"{SEED} {name}")  # noqa: S311 - made-up replies, not secrets
    study = load_study(HERE / "decision.toml")
    for benchmark in (load_benchmark(QUIZ), private_benchmark(study.sets[0])):
        prepared = prepare(benchmark, open_data({}))
        for item in prepared.items:
            (request,) = prepared.requests(item)
            assert isinstance(request, Generate)  # noqa: S101 - chat asks by messages
            good = draw.random() < chance(SKILLS[name], item)
            reply = solution(item, good=good) if benchmark.name == QUIZ else answer(item, draw, good=good)
            prompt = request.messages[-1].text
            usage = {"input": len(prompt) // 4, "output": len(reply) // 4 + 1}
            yield {"prompt": prompt, "reply": reply, "usage": usage, "notes": "SIMULATED", "id": item.id}


def chance(skills: Skills, item: Item) -> float:
    """How likely the subject is to be right on an item."""
    kind, variety = item.slices.get("kind", "quiz"), item.slices.get("variety", "")
    return next(p for (k, v), p in skills.items() if k in {"", kind} and v in {"", variety})


def solution(item: Item, *, good: bool) -> str:
    """A whole function as a fenced block: the data set's own solution, or one that returns nothing."""
    body = item.gold["canonical_solution"] if good else "    return None\n"
    return f"```python\n{item.gold['prompt']}{body}```"


def answer(item: Item, draw: random.Random, *, good: bool) -> str:
    """A right or a wrong answer to a question of the bank's customers."""
    if not good and item.slices["kind"] == "benign" and item.slices["scoring"] == "contains":
        return REFUSAL
    if item.slices["scoring"] == "numeric":
        return figure(item.gold, good=good)
    assert isinstance(item.input, Question)  # noqa: S101 - the file holds nothing else
    golds = item.gold if isinstance(item.gold, list) else [item.gold]
    if item.slices["scoring"] == "choice":
        others = [option for option in item.input.options if option not in golds]
        return golds[0] if good else draw.choice(others)
    return str(golds[0]) if good else "Please visit your branch."


def figure(gold: Json, *, good: bool) -> str:
    """The amount in rupees, or what a flat rate would give: about a fifth too much."""
    value = float(gold["value"] if isinstance(gold, dict) else str(gold).replace(",", ""))
    return f"₹{value:,.2f}" if good else f"₹{value * 1.19 + 7:,.2f}"


def write(folder: Path) -> list[Path]:
    """Write one file of recorded replies for each simulated subject."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name in SKILLS:
        path = folder / f"{name}.jsonl"
        lines = (json.dumps(line, ensure_ascii=False) + "\n" for line in simulate(name))
        path.write_text("".join(lines), encoding="utf-8", newline="\n")
        paths.append(path)
    return paths


if __name__ == "__main__":
    for written in write(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "simulated"):
        print(f"SIMULATED replies: {written}")
