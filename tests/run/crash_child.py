"""What the crash tests start and kill: a run over HTTP, or an agent that stops to be killed between two steps."""

import argparse
import sys
import time
from dataclasses import replace

import measurand
from measurand.core.benchmark import Task
from measurand.core.message import user
from measurand.core.outcome import Answer
from measurand.core.request import Generate
from measurand.core.source import File
from measurand.run.limits import RunLimits
from measurand.study.records import PrivateSet
from measurand.wiring import Options, SubjectOptions
from tests.run.world import scaffold, to_items

STEPS = 40


def agent(pause_before: int):
    """An agent of 40 calls. Before call `pause_before` it says so and waits for its end."""

    async def attempt(item, doors):
        said = "0"
        for step in range(STEPS):
            if step == pause_before:
                print(f"before {step}", flush=True)
                time.sleep(3000)  # noqa: ASYNC251 - the process waits to be killed
            said = (await doors.ask("target", Generate((user(f"{step} after {said}"),)))).text
        return Answer(said)

    return replace(scaffold(attempt), task=Task({"test": File("items.jsonl")}, to_items, 1))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--url", required=True)
    parser.add_argument("--store", required=True)
    parser.add_argument("--items", default="")
    parser.add_argument("--pause-before", type=int, default=-1)
    given = parser.parse_args()
    options = Options(
        store=given.store,
        limits=RunLimits(concurrency=8),
        subject=SubjectOptions(base_url=given.url),
        data={"agent": given.items},
    )
    what = (
        agent(given.pause_before)
        if given.pause_before >= 0
        else PrivateSet(file=given.items, question="q", answer="a", slices=("kind",))
    )
    evaluation = measurand.evaluate(what, "openai_compatible:m", options=options)
    evaluation.store.close()
    sys.exit(0 if evaluation.ended.complete else 1)
