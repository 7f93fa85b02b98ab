"""Who the subject is and what it can do, by the options alone."""

from __future__ import annotations

from typing import Any

import pytest

from measurand.core.errors import InputError
from measurand.providers.anthropic import Anthropic, AnthropicOptions
from measurand.providers.anthropic_write import Thinking
from measurand.providers.google import Google, GoogleOptions
from measurand.providers.openai_compatible import PRESETS, OpenAICompatible, OpenAIOptions


def test_subjects_differ_where_replies_may() -> None:
    def revision(**more: Any) -> str:
        return OpenAICompatible(OpenAIOptions(model="m", **more)).subject.revision

    assert OpenAICompatible(OpenAIOptions(model="m")).subject.endpoint == ""
    assert revision() == ""
    assert revision(revision="r1") == "r1"
    assert revision(extra={"top_k": 1}) != revision(extra={"top_k": 2})
    assert revision(revision="r1", extra={"top_k": 1}).startswith("r1+")
    assert revision(stream=True) == ""
    plain = Anthropic(AnthropicOptions(model="m")).subject
    assert plain.endpoint == plain.revision == ""
    changes: list[dict[str, Any]] = [{"betas": ("b",)}, {"thinking": Thinking(low=9)}, {"extra": {"x": 1}}]
    for more in changes:
        assert Anthropic(AnthropicOptions(model="m", **more)).subject.revision != ""
    assert Google(GoogleOptions(model="m")).subject.endpoint == ""


@pytest.mark.parametrize("name", sorted(PRESETS))
def test_presets(name: str) -> None:
    base = "https://mine.openai.azure.com" if name == "azure" else ""
    provider = OpenAICompatible(OpenAIOptions(model="m", preset=name, base_url=base))
    assert provider.describe().local is (name in {"vllm", "sglang", "ollama", "lmstudio", "llamacpp"})
    assert (provider.subject.endpoint == "") is (name == "openai")


@pytest.mark.parametrize(
    "options",
    [{"preset": "opanai"}, {"preset": "azure"}, {"extra": {"messages": []}}, {"extra": {"stream": True}}],
)
def test_options_that_cannot_be_used(options: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        OpenAICompatible(OpenAIOptions(model="m", **options))


def test_abilities() -> None:
    def measured(**more: Any) -> tuple[str, bool]:
        found = OpenAICompatible(OpenAIOptions(model="m", **more)).describe()
        return found.loglikelihood, "loglikelihood" in found.can

    assert measured() == ("none", False)
    assert measured(top_logprobs=20) == ("next_token", True)
    assert measured(echo_logprobs=True, top_logprobs=20) == ("any", True)


@pytest.mark.parametrize("own", ["contents", "tools", "systemInstruction", "messages", "system", "max_tokens"])
def test_extra_fields_never_replace_the_requests_own(own: str) -> None:
    anthropic = own in {"messages", "system", "max_tokens"}
    with pytest.raises(InputError, match=own):
        Anthropic(AnthropicOptions("m", extra={own: 1})) if anthropic else Google(GoogleOptions("m", extra={own: 1}))
