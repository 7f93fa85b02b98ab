"""Replies of a model in this process beside transformers' own `generate`: the same weights and prompts, in turn.

`python -m perf.generation` lets SmolLM2-135M in float32 go on with some texts, greedily, one at a time and eight
together, on one thread; each round asks both sides. Printed are generated tokens per second of processor time (what
others do on the machine counts less in it than in wall time), the ratios, and on how many texts both say the same.
`--shared N` puts N equal words before all texts, as few-shot prompts have them.
"""

import argparse
import time
from collections.abc import Callable, Sequence
from typing import Any

import torch
from transformers import AutoModelForCausalLM

from measurand.core.call import Reply
from measurand.core.request import Complete, Decode
from measurand.providers.transformers_files import TransformersOptions, converted, locate
from measurand.providers.transformers_model import Loaded, load
from measurand.wiring.opening import open_seam

TEXTS = (
    "The capital of France is",
    "Water boils at a temperature of",
    "def fibonacci(n):",
    "Once upon a time, in a village far away, there lived an old woman who",
    "1, 1, 2, 3, 5, 8,",
    "The three primary colours are",
    "A letter to the editor of the newspaper. Dear Sir, I read with great interest your article about",
    "Question: How many legs has a spider? Answer:",
)
EQUAL = "the quick brown fox jumps over the lazy dog and "

Said = list[list[int]]


def ours(loaded: Loaded, tokens: int) -> Callable[[Sequence[str]], Said]:
    def say(texts: Sequence[str]) -> Said:
        replies = loaded.replies([Complete(text, Decode(max_tokens=tokens)) for text in texts])
        said = [reply.text for reply in replies if isinstance(reply, Reply)]
        return [loaded.tokenizer(text, add_special_tokens=False).input_ids for text in said]

    return say


def theirs(loaded: Loaded, model: Any, tokens: int) -> Callable[[Sequence[str]], Said]:
    loaded.tokenizer.padding_side = "left"
    if loaded.tokenizer.pad_token is None:
        loaded.tokenizer.pad_token = loaded.tokenizer.eos_token
    end = model.generation_config.eos_token_id

    def say(texts: Sequence[str]) -> Said:
        given = loaded.tokenizer(list(texts), return_tensors="pt", padding=True, add_special_tokens=False)
        with torch.inference_mode():
            found = model.generate(
                **given, max_new_tokens=tokens, do_sample=False, pad_token_id=loaded.tokenizer.pad_token_id
            )
        rows = found[:, given.input_ids.shape[1] :].tolist()
        return [row[: row.index(end)] if end in row else row for row in rows]

    return say


def timed(say: Callable[[Sequence[str]], Said], texts: Sequence[str], size: int) -> tuple[Said, float]:
    begun, said = time.process_time(), []
    for start in range(0, len(texts), size):
        said += say(texts[start : start + size])
    return said, time.process_time() - begun


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", default="smollm2-135m")
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--shared", type=int, default=0, help="equal words before all texts")
    given = parser.parse_args()
    weights = locate(given.model)
    loaded = load(weights, open_seam(), TransformersOptions(threads=given.threads, device="cpu"))
    folder = converted(weights) if weights.is_gguf else weights.path
    plain: Any = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    sides = {"measurand": ours(loaded, given.tokens), "generate": theirs(loaded, plain, given.tokens)}
    equal = " ".join((EQUAL * given.shared).split()[: given.shared])
    texts = [f"{equal} {text}" if equal else text for text in TEXTS]
    seconds = {(name, size): 0.0 for name in sides for size in (1, 8)}
    counts = dict.fromkeys(seconds, 0)
    alike = 0
    for number in range(given.rounds):
        for size in (1, 8):
            said = {}
            for name in sorted(sides, reverse=bool(number % 2)):
                said[name], spent = timed(sides[name], texts, size)
                seconds[name, size] += spent
                counts[name, size] += sum(map(len, said[name]))
            alike += sum(a == b for a, b in zip(said["measurand"], said["generate"], strict=True))
    rate = {key: counts[key] / seconds[key] for key in seconds}
    for size in (1, 8):
        own, other = rate["measurand", size], rate["generate", size]
        print(f"{size} together: measurand {own:.1f}, generate {other:.1f} tokens per CPU s: {own / other:.2f} times")
    for name in sides:
        print(f"{name}: 8 together are {rate[name, 8] / rate[name, 1]:.2f} times as fast as 1")
    print(f"{alike} of {2 * given.rounds * len(texts)} texts alike")
