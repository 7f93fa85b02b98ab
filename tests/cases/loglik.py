"""Theme loglik: options and texts by their log-probabilities, and the tokens that these are of."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from measurand.asking.seam import begin, fit, join
from measurand.asking.windows import windows
from measurand.core.benchmark import Reader
from measurand.core.errors import InputError
from measurand.core.item import Document, Item, Question
from measurand.core.outcome import Answer
from measurand.core.tokens import Joined, Tokenizer
from measurand.core.trial import Found, Measured
from measurand.scoring.choosing import CHOICE_SCORE
from measurand.scoring.letters import ARGMAX
from measurand.scoring.options import ARGMAX_BYTES, ARGMAX_CHARACTERS, ARGMAX_PMI, ARGMAX_TOKENS
from measurand.scoring.perplexity import count
from measurand.stats.estimate import estimate
from measurand.stats.metrics import BITS_PER_BYTE, BYTE_PERPLEXITY, TOKEN_PERPLEXITY, WORD_PERPLEXITY

Json = dict[str, Any]


def loglik(case: Json) -> Any:
    """Do what the case's task names."""
    try:
        return _TASKS[case["task"]](case)
    except InputError as error:
        return {"error": str(error)}


def _choice(reader: Reader, texts: Sequence[str], values: Sequence[float], counts: Sequence[int] = ()) -> Any:
    item = Item("x", Question("q", tuple(texts)), gold=0)
    finding = reader.read(item, Answer(values=tuple(values), counts=tuple(counts)))
    return finding.value if isinstance(finding, Found) else None


def _argmax(case: Json) -> Json:
    texts, values = case.get("choices") or [""] * len(case["logprobs"]), case["logprobs"]
    found = {"acc": _choice(ARGMAX, texts, values)}
    if case.get("choices"):
        found["acc_norm_chars"] = _choice(ARGMAX_CHARACTERS, texts, values)
        found["acc_norm_bytes"] = _choice(ARGMAX_BYTES, texts, values)
    if case.get("unconditional"):
        found["acc_pmi"] = found["acc_mutual_info"] = _choice(ARGMAX_PMI, texts, [*values, *case["unconditional"]])
    if "gold" in case:
        score = CHOICE_SCORE.score(Item("x", Question("q", tuple(texts)), gold=case["gold"]), Found(found["acc"]))
        found |= {"score": score.row[0] if isinstance(score, Measured) else None, "tie": isinstance(found["acc"], list)}
    return found


def _argmax_tokens(case: Json) -> Json:
    counts = [sum(token != case.get("pad") for token in tokens) for tokens in case["choice_tokens"]]
    return {"acc_norm_tokens": _choice(ARGMAX_TOKENS, [""] * len(counts), case["logprobs"], counts)}


def _variants(case: Json) -> Json:
    texts, by_text = case["texts"], case["text_logprobs"]

    def right(choice: Any) -> int:
        return int(choice == case["gold"])

    return {
        "acc_letter": right(_choice(ARGMAX, texts, case["letter_logprobs"])),
        "acc_text": right(_choice(ARGMAX, texts, by_text)),
        "acc_text_norm_chars": right(_choice(ARGMAX_CHARACTERS, texts, by_text)),
        "acc_text_norm_bytes": right(_choice(ARGMAX_BYTES, texts, by_text)),
    }


def _window(case: Json) -> Json:
    """The house knows ids: the case's tokens are numbered, and named again in the answer."""
    names = [*case["context"], *case["continuation"]]
    fitted = fit(Joined(tuple(range(len(names))), len(case["context"])), case["max_length"])
    return {
        "model_input": [names[number] for number in fitted.ids[:-1]],
        "scored": [names[number] for number in fitted.ids[fitted.start :]],
        "truncated_tokens": fitted.dropped,
        "truncated": fitted.dropped > 0,
    }


def _encode(case: Json) -> Json:
    known = case["tokenizer"]
    tokenizer = Tokenizer(
        lambda _: case["text_tokens"], known.get("bos"), bool(known.get("adds_bos")), known.get("eos")
    )
    tokens = list(begin(tokenizer.encode(""), tokenizer))
    return {"tokens": tokens, "n_bos": tokens.count(known.get("bos"))}


def _pair(case: Json) -> Json:
    """A context and a continuation, by a vocabulary from texts to ids, of which the longest piece is taken."""
    vocabulary = case.get("vocab") or case["tokenizer"]["vocab"]
    ids = vocabulary if isinstance(vocabulary, dict) else {text: number for number, text in enumerate(vocabulary)}

    def encode(text: str) -> list[int]:
        found = []
        while text:
            piece = max((one for one in ids if text.startswith(one)), key=len)
            found.append(ids[piece])
            text = text[len(piece) :]
        return found

    tokenizer = Tokenizer(
        encode, case.get("bos"), bool(case.get("adds_bos")), case.get("eos", case.get("prefix_token"))
    )
    (joined,) = join(case["context"], [case["continuation"]], tokenizer)
    named = {number: text for text, number in ids.items()}
    return {
        "context_tokens": list(joined.ids[: joined.start]),
        "continuation_tokens": list(joined.ids[joined.start :]),
        "context": [named.get(one) for one in joined.ids[: joined.start]],
        "continuation": [named.get(one) for one in joined.ids[joined.start :]],
    }


def _slice(case: Json) -> Json:
    """The log-probabilities are those of all tokens but BOS, in order."""
    joined = Joined(tuple(range(len(case["token_logprobs"]))), len(case["prompt_tokens"]))
    return {"sum": math.fsum(case["token_logprobs"][joined.start :])}


def _rolling(case: Json) -> Json:
    ids = [case["prefix_token"], *case["tokens"]]
    made = windows(ids, case["max_length"], case.get("stride") or case["max_length"])
    scored = [len(window.ids) - window.start for window in made]
    return {"scored_per_window": scored, "total_scored": sum(scored)}


def _perplexity(case: Json) -> Json:
    docs = case.get("docs") or case.get("documents") or [case]
    found: Json = {}
    for unit, metric in (("words", WORD_PERPLEXITY), ("bytes", BYTE_PERPLEXITY), ("tokens", TOKEN_PERPLEXITY)):
        rows = [(doc.get("loglik", doc.get("logprob")), _length(doc, unit)) for doc in docs]
        if all(length is not None for _, length in rows):
            table = np.array(rows, dtype=np.float64)
            found[metric.name] = estimate(table, metric).value
            if unit == "bytes":
                found["bits_per_byte"] = estimate(table, BITS_PER_BYTE).value
    return found


def _length(doc: Json, unit: str) -> int | None:
    if unit in doc:
        return int(doc[unit])
    text = doc.get("text")
    return count(Document(text).text, unit) if isinstance(text, str) and unit != "tokens" else None


_TASKS = {
    "mc_argmax": _argmax,
    "mc_argmax_tokens_norm": _argmax_tokens,
    "mc_pmi": _argmax,
    "mmlu_variants": _variants,
    "loglikelihood_window": _window,
    "loglik_window": _window,
    "encode": _encode,
    "encode_pair": _pair,
    "tokenize_pair": _pair,
    "loglik_slice": _slice,
    "rolling_windows": _rolling,
    "word_perplexity": _perplexity,
    "byte_perplexity": _perplexity,
    "bits_per_byte": _perplexity,
    "perplexity": _perplexity,
}
