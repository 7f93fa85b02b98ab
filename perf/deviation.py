"""How far llama.cpp's log-probabilities of options lie from those of the same weights in float32.

`python -m perf.deviation --data FOLDER` asks MMLU questions with their five exemplars; the folder holds `test` and
`dev` of MMLU. The GGUF file is computed by transformers in float32, and by llama.cpp with its keys and values in f16
and in q8_0, one after the other. Printed for each are the mean and the largest difference of a log-probability, those
of the differences between the options of a question, and how many choices differ.
"""

import argparse
import asyncio
import statistics
from pathlib import Path

from measurand.core.call import Reply
from measurand.core.request import Loglikelihood
from measurand.providers.llamacpp import LlamaCpp
from measurand.providers.llamacpp_server import Cache
from measurand.providers.transformers_files import TransformersOptions, locate
from measurand.providers.transformers_model import load
from measurand.wiring.opening import open_seam
from perf.loglikelihood import SUBJECTS, best, questions

Nats = list[tuple[float, ...]]


def exact(model: str, asked: list[Loglikelihood], threads: int) -> Nats:
    """By transformers, in float32."""
    loaded = load(locate(model), open_seam(), TransformersOptions(threads=threads, device="cpu"))
    replies = loaded.replies(asked)
    return [reply.values for reply in replies if isinstance(reply, Reply)]


async def quantised(model: str, asked: list[Loglikelihood], threads: int, cache: Cache) -> Nats:
    """By llama.cpp, one question at a time. Its server ends with this."""
    provider = LlamaCpp(model, threads=threads, slots=1)
    if cache == "q8_0":
        provider.quantise_cache()
    await provider.start()
    try:
        return [(await provider.reply(request)).values for request in asked]
    finally:
        await provider.close()


def compared(name: str, there: Nats, here: Nats) -> str:
    """The differences, in a sentence."""
    apart = [abs(a - b) for one, other in zip(there, here, strict=True) for a, b in zip(one, other, strict=True)]
    within = [
        abs((a - one[0]) - (b - other[0]))
        for one, other in zip(there, here, strict=True)
        for a, b in zip(one[1:], other[1:], strict=True)
    ]
    changed = sum(best(list(one)) != best(list(other)) for one, other in zip(there, here, strict=True))
    return (
        f"{name}: {statistics.mean(apart):.3f} nats on average and {max(apart):.3f} at most, between options "
        f"{statistics.mean(within):.3f} and {max(within):.3f}; {changed} of {len(here)} choices differ"
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", required=True, type=Path, help="a folder with `test` and `dev` of MMLU")
    parser.add_argument("--model", default="smollm2-135m")
    parser.add_argument("--each", type=int, default=8, help="questions of each of five subjects")
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args()
    asked = [Loglikelihood(context, options) for context, options, _ in questions(given.data, SUBJECTS, given.each)]
    here = exact(given.model, asked, given.threads)
    caches: tuple[Cache, ...] = ("f16", "q8_0")
    for cache in caches:
        there = asyncio.run(quantised(given.model, asked, given.threads, cache))
        print(compared(f"llama.cpp, cache in {cache}", there, here), flush=True)
