"""A key goes to its own host and nowhere else: not to another host, not into a sentence, a record or a log."""

from __future__ import annotations

import base64
import logging
import traceback
from urllib.parse import quote

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurand.core.call import Reply, TokenLogprob
from measurand.core.errors import CallFailedError, InputError, MeasurandError
from measurand.core.message import Text, ToolCall
from measurand.core.ports import Provider
from measurand.providers import secrets
from measurand.providers.anthropic import Anthropic, AnthropicOptions
from measurand.providers.google import Google, GoogleOptions
from measurand.providers.openai_compatible import OpenAICompatible, OpenAIOptions
from tests.providers.server import Answer, Server, as_json
from tests.providers.wires import ASK, KEY, PATIENT, Wire

VENDORS = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY", "google": "GOOGLE_API_KEY"}


def told(key: str) -> list[str]:
    """The key as an endpoint may write it."""
    return [key, quote(key, safe=""), *(base64.b64encode(b"x" * shift + key.encode()).decode() for shift in range(3))]


def spellings(key: str) -> list[str]:
    """What may be seen of none of these."""
    shifted = [base64.b64encode(b"x" * shift + key.encode()).decode().rstrip("=")[4:-4] for shift in range(3)]
    return [key, quote(key, safe=""), base64.b64encode(key.encode()).decode().rstrip("="), *shifted]


@pytest.mark.parametrize(
    ("scheme", "host", "names"),
    [
        ("https", "api.openai.com", ("OPENAI_API_KEY",)),
        ("https", "eu.api.openai.com", ("OPENAI_API_KEY",)),
        ("https", "api.anthropic.com", ("ANTHROPIC_API_KEY",)),
        ("https", "generativelanguage.googleapis.com", ("GEMINI_API_KEY", "GOOGLE_API_KEY")),
        ("https", "mine.openai.azure.com", ("AZURE_OPENAI_API_KEY",)),
        ("http", "api.openai.com", ("MEASURAND_API_KEY",)),
        ("https", "api.openai.com.evil.example", ("MEASURAND_API_KEY",)),
        ("https", "evilapi.openai.com", ("MEASURAND_API_KEY",)),
        ("https", "openai.azure.com", ("MEASURAND_API_KEY",)),
        ("http", "127.0.0.1", ("MEASURAND_API_KEY",)),
    ],
)
def test_keys_are_bound_to_hosts(scheme: str, host: str, names: tuple[str, ...]) -> None:
    assert secrets.key_names(scheme, host) == names


@pytest.mark.parametrize("name", sorted(secrets.BOUND))
def test_a_vendors_key_is_refused_elsewhere_even_when_named(name: str) -> None:
    with pytest.raises(InputError, match="MEASURAND_API_KEY"):
        secrets.key_names("https", "evil.example", name)
    assert secrets.key_names("https", "evil.example", "MY_KEY") == ("MY_KEY",)


async def test_only_the_free_key_or_a_named_one_goes_to_a_custom_host(
    wire: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in secrets.BOUND:
        monkeypatch.setenv(name, KEY)
    async with Server(wire.reply()) as server:
        for key_env, value in (("", ""), ("", "free-key-123456"), ("MY_KEY", "named-key-123456")):
            if value:
                monkeypatch.setenv(key_env or "MEASURAND_API_KEY", value)
            provider = wire.provider(server.url, key_env=key_env)
            await provider.start()
            await provider.reply(ASK)
            await provider.close()
            sent = server.heard[-1]
            assert sent.headers.get(wire.auth, "").removeprefix("Bearer ") == value
            assert value not in sent.target or not value
    assert not any(KEY in repr(heard) for heard in server.heard)


async def test_a_missing_key_fails_at_the_first_request_and_names_its_variable(wire: Wire) -> None:
    options = {"openai": OpenAIOptions, "anthropic": AnthropicOptions, "google": GoogleOptions}[wire.name]
    kind = {"openai": OpenAICompatible, "anthropic": Anthropic, "google": Google}[wire.name]
    provider = kind(options(model="m"))
    assert not provider.describe().local
    assert provider.subject.endpoint == ""
    await provider.start()
    with pytest.raises(CallFailedError, match=VENDORS[wire.name]) as caught:
        await provider.reply(ASK)
    assert caught.value.fatal
    await provider.close()


@pytest.mark.parametrize("key", ["key\r\nX-Evil: 1", "key-with-newline\n", "ключ-ключ-ключ", "tab\tinside-key"])
async def test_keys_that_no_header_may_hold(wire: Wire, key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEASURAND_API_KEY", key)
    async with Server(wire.reply()) as server:
        provider = wire.provider(server.url)
        with pytest.raises(InputError, match="MEASURAND_API_KEY") as caught:
            await provider.start()
        await provider.close()
    assert key.strip() not in str(caught.value)
    assert server.heard == []


def test_other_headers_are_checked_too() -> None:
    with pytest.raises(InputError):
        OpenAICompatible(OpenAIOptions(model="m", organisation="o\r\nX: y"))
    with pytest.raises(InputError):
        Anthropic(AnthropicOptions(model="m", betas=("a\nb",)))


async def test_a_planted_key_turns_up_nowhere(
    wire: Wire, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """An endpoint that sends the key back in every way it can."""
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("MEASURAND_API_KEY", KEY)
    echo = " ".join(told(KEY))
    script = [
        as_json({"error": {"message": f"Incorrect API key provided: {echo}", "code": KEY}}, 401),
        as_json({"error": {"message": "x" * 290 + KEY}}, 500),
        Answer(echo.encode(), 502),
        Answer(b"", 302, {"Location": f"http://x.example/{KEY}"}),
        Answer(f"HTTP/1.1 {KEY}\r\n\r\n".encode(), how="raw"),
        as_json({"error": echo}),
        Answer(KEY.encode()),
        wire.reply(echo, thought=echo),
        wire.reply(None, KEY),
        Answer(how="slam"),
    ]
    seen: list[str] = []
    contexts: list[BaseException | None] = []
    async with Server(*script) as server:
        provider = wire.provider(server.url)
        await provider.start()
        for _ in script:
            try:
                reply = await provider.reply(ASK)
                seen += [repr(reply), msgspec.json.encode(reply).decode()]
            except MeasurandError as error:
                seen += [repr(error), repr(vars(error)), "".join(traceback.format_exception(error))]
                contexts.append(error.__context__)
        assert all(heard.headers[wire.auth].endswith(KEY) for heard in server.heard)
        seen += [repr(provider), repr(provider.subject), repr(provider.describe()), repr(provider.options)]  # type: ignore[attr-defined]
        seen.append(msgspec.json.encode(provider.options).decode())  # type: ignore[attr-defined]
        await provider.close()
    seen += [record.getMessage() + repr(record.args) for record in caplog.records]
    for spelling in spellings(KEY):
        assert not [text for text in seen if spelling in text]
    assert not any(contexts)
    assert sum(secrets.MASK in text for text in seen) >= 8


async def test_a_key_in_a_stream_is_masked(wire: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEASURAND_API_KEY", KEY)
    async with Server(wire.stream([KEY[:7], KEY[7:]])) as server:
        provider: Provider = wire.provider(server.url, stream=True)
        await provider.start()
        assert (await provider.reply(ASK)).text == secrets.MASK
        await provider.close()


def test_scrub_covers_every_field_and_leaves_the_rest_alone() -> None:
    reply = Reply(
        (Text(f"a {KEY} b"), ToolCall("i", "n", f'{{"k": "{KEY}"}}')),
        reasoning=KEY,
        logprobs=(TokenLogprob(KEY, -1.0, {KEY: -1.0}),),
        served_as=KEY,
    )
    assert secrets.scrub(reply) is reply
    secrets.remember(KEY)
    assert KEY not in repr(secrets.scrub(reply))
    assert secrets.scrub(reply).text == "a *** b"
    clean = Reply((Text("nothing"),))
    assert secrets.scrub(clean) is clean


@pytest.mark.parametrize("placeholder", ["", "EMPTY", "ollama", "lm-studio"])
def test_placeholders_are_words(placeholder: str) -> None:
    secrets.remember(placeholder)
    assert secrets.redact(f"the {placeholder} server") == f"the {placeholder} server"


@given(
    st.text(st.characters(codec="ascii", exclude_categories=["C", "Z"]), min_size=12, max_size=60), st.text(), st.text()
)
def test_redaction_catches_every_spelling(key: str, before: str, after: str) -> None:
    secrets._spellings.clear()
    secrets.remember(key)
    texts = [before + spelling + after for spelling in told(key)]
    texts.append(msgspec.json.encode(before + key + after).decode())
    for text in texts:
        masked = secrets.redact(text)
        assert key not in masked.replace(secrets.MASK, "\0")
        assert base64.b64encode(key.encode()).decode().rstrip("=") not in masked


@pytest.mark.parametrize(
    "url",
    [
        "",
        "ftp://host/v1",
        "host/v1",
        "file:///etc/passwd",
        "https://user:sk-secret@host/v1",
        "https://host/v1?key=sk-secret",
        "https://host/v1#sk-secret",
        "http://host:99999999/",
        "http://[::1/",
    ],
)
def test_addresses_in_which_a_key_may_hide_are_refused(wire: Wire, url: str) -> None:
    if not url:
        pytest.skip("empty means the preset") if wire.name == "openai" else None
    with pytest.raises(InputError) as caught:
        wire.provider(url)
    assert "sk-secret" not in str(caught.value)


async def test_vendor_hosts_get_their_own_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """Through a proxy on the loopback that only notes who is asked for: the key itself stays inside TLS."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    refuse = Answer(b"HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n", how="raw")
    async with Server(refuse) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", proxy.url)
        provider = OpenAICompatible(OpenAIOptions(model="m", http=PATIENT))
        await provider.start()
        with pytest.raises(CallFailedError, match="proxy"):
            await provider.reply(ASK)
        await provider.close()
    assert [(heard.method, heard.target) for heard in proxy.heard] == [("CONNECT", "api.openai.com:443")]
    assert KEY not in repr(proxy.heard)
