"""Certificates, proxies, streams of bytes, and the readers of what endpoints say."""

from __future__ import annotations

import datetime as dt
import ipaddress
import os
import ssl
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from hypothesis import given
from hypothesis import strategies as st

from measurand.core.errors import CallFailedError, InputError
from measurand.providers import endings
from measurand.providers.connecting import HttpOptions, Timeouts, broken_connection, is_loopback
from measurand.providers.secrets import _spellings
from measurand.providers.sse import Events
from tests.clock import stopped
from tests.growth import assert_grows_gently
from tests.providers.server import Server
from tests.providers.wires import ASK, KEY, PATIENT, Wire

ASKED = endings.Asked("host", ("MY_KEY",))


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for 127.0.0.1 that signs itself, and its key, in one file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "test")])
    now = dt.datetime.now(dt.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    path = tmp_path_factory.mktemp("tls") / "certificate.pem"
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path.write_bytes(private + made.public_bytes(serialization.Encoding.PEM))
    return path


def tls(certificate: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    return context


async def test_wrong_certificate(wire: Wire, certificate: Path) -> None:
    async with Server(wire.reply(), tls=tls(certificate)) as server:
        provider = wire.provider(server.url)
        await provider.start()
        with pytest.raises(CallFailedError, match="ca_bundle") as caught:
            await provider.reply(ASK)
        await provider.close()
    assert (caught.value.transient, caught.value.where) == (False, "network")
    assert server.heard == []


@pytest.mark.parametrize("by", ["option", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE"])
async def test_own_authority(wire: Wire, certificate: Path, by: str, monkeypatch: pytest.MonkeyPatch) -> None:
    http = HttpOptions(timeouts=PATIENT.timeouts, ca_bundle=str(certificate) if by == "option" else "")
    if by != "option":
        monkeypatch.setenv(by, str(certificate))
    async with Server(wire.reply(), tls=tls(certificate)) as server:
        provider = wire.provider(server.url, http=http)
        await provider.start()
        assert (await provider.reply(ASK)).text == "42"
        await provider.close()


@pytest.mark.parametrize("kind", ["missing", "junk"])
async def test_bundles_that_are_none(wire: Wire, kind: str, tmp_path: Path) -> None:
    path = tmp_path / "bundle.pem"
    if kind == "junk":
        path.write_text("no certificate")
    provider = wire.provider("https://127.0.0.1:9", http=HttpOptions(ca_bundle=str(path)))
    with pytest.raises(InputError, match="ca_bundle"):
        await provider.start()


async def test_tls_to_a_server_without(wire: Wire) -> None:
    async with Server(wire.reply()) as server:
        hasty = HttpOptions(timeouts=Timeouts(0.3, 0.3, 0.3))
        provider = wire.provider(server.url.replace("http:", "https:"), http=hasty)
        await provider.start()
        with pytest.raises(CallFailedError) as caught:
            await provider.reply(ASK)
        await provider.close()
    assert caught.value.where == "network"


async def test_proxy(wire: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEASURAND_API_KEY", KEY)
    async with Server(wire.reply()) as proxy:
        monkeypatch.setenv("HTTP_PROXY", f"http://me:proxy-password-1@127.0.0.1:{proxy.port}")
        provider = wire.provider("http://model.invalid/base")
        await provider.start()
        assert (await provider.reply(ASK)).text == "42"
        await provider.close()
    heard = proxy.heard[0]
    assert heard.target.startswith("http://model.invalid/base/")
    assert heard.headers["proxy-authorization"].startswith("Basic ")
    assert "proxy-password-1" in _spellings, "the proxy's password is masked too"


async def test_no_proxy(wire: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
    async with Server(wire.reply()) as proxy, Server(wire.reply()) as server:
        monkeypatch.setenv("ALL_PROXY", proxy.url)
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        for url, excepted in ((server.url, ""), ("http://model.invalid", "other.example, .invalid")):
            monkeypatch.setenv("NO_PROXY", excepted)
            provider = wire.provider(url)
            await provider.start()
            if excepted:
                with pytest.raises(CallFailedError):
                    await provider.reply(ASK)
            else:
                assert (await provider.reply(ASK)).text == "42"
            await provider.close()
    assert proxy.heard == []


@pytest.mark.parametrize("address", ["socks5://127.0.0.1:1", "http://", "http://[::1"])
async def test_proxies_that_cannot_be_used(wire: Wire, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", address)
    with pytest.raises(InputError, match="HTTPS_PROXY"):
        await wire.provider("https://model.invalid").start()


async def test_proxy_that_wants_a_password_or_is_not_there(wire: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.providers.server import Answer

    for url, answer, transient in (
        ("http://model.invalid", Answer(b"", 407), False),
        ("https://model.invalid", Answer(b"", 407), False),
        ("https://model.invalid", Answer(b"", 503), True),
    ):
        async with Server(answer) as proxy:
            for name in ("HTTP_PROXY", "HTTPS_PROXY"):
                monkeypatch.setenv(name, proxy.url)
            provider = wire.provider(url)
            await provider.start()
            with pytest.raises(CallFailedError, match=r"(?i)proxy") as caught:
                await provider.reply(ASK)
            await provider.close()
            assert caught.value.transient is transient
    provider = wire.provider("http://model.invalid")
    await provider.start()
    with pytest.raises(CallFailedError, match="proxy"):
        await provider.reply(ASK)
    await provider.close()


@pytest.mark.parametrize("seconds", [0, -1, float("inf"), float("nan")])
def test_no_wait_is_endless(wire: Wire, seconds: float) -> None:
    for times in (Timeouts(connect=seconds), Timeouts(read=seconds), Timeouts(total=seconds)):
        with pytest.raises(InputError, match="timeouts"):
            wire.provider("http://127.0.0.1:9", http=HttpOptions(timeouts=times))


@pytest.mark.parametrize(
    ("host", "local"),
    [
        ("localhost", True),
        ("127.9.9.9", True),
        ("::1", True),
        ("a.localhost", True),
        ("localhost.example", False),
        ("10.0.0.1", False),
    ],
)
def test_loopback(host: str, local: bool) -> None:  # noqa: FBT001 (a parameter of the test)
    assert is_loopback(host) is local


def test_unknown_breaks_have_a_sentence_too() -> None:
    from yarl import URL

    error = broken_connection(
        ConnectionResetError(104, "Connection reset by peer"), URL("http://host/"), PATIENT.timeouts
    )
    assert error.transient
    assert "host" in error.why


@given(
    st.lists(st.binary(max_size=30).map(lambda junk: junk.translate(None, b"\r\n")), max_size=8),
    st.sampled_from([b"\n", b"\r\n", b"\n\n", b"\r"]),
    st.integers(1, 9),
)
def test_events_do_not_depend_on_the_chunks(lines: list[bytes], newline: bytes, size: int) -> None:
    body = b": a comment" + newline + b"".join(b"data: " + line + newline + b"event: x" + newline for line in lines)
    events = Events()
    found = [payload for start in range(0, len(body), size) for payload in events.feed(body[start : start + size])]
    assert found + events.finish() == [line.strip() for line in lines if line.strip()]


def test_events_are_linear_in_the_bytes() -> None:
    def feed(size: int) -> None:
        events = Events()
        for _ in range(size):
            events.feed(b"x")
        events.feed(b"\r" * (size // 2))

    assert_grows_gently(feed, 200_000)


@given(
    st.dictionaries(
        st.sampled_from(["retry-after", "retry-after-ms", "date", "x-ratelimit-reset", "x-ratelimit-remaining"]),
        st.text(max_size=40),
    )
)
def test_waits_are_none_or_bounded(headers: dict[str, str]) -> None:
    wait = endings.wait_asked(headers)
    assert wait is None or 0 <= wait <= endings.LONGEST_WAIT


NOW = 1_800_000_000.0
IN_A_MINUTE = NOW + 60


@pytest.mark.parametrize(
    ("name", "value", "seconds"),
    [
        ("x-ratelimit-reset", "30", 30),
        ("x-ratelimit-reset", str(IN_A_MINUTE), 60),
        ("x-ratelimit-reset", str(IN_A_MINUTE * 1000), 60),
        ("anthropic-ratelimit-tokens-reset", dt.datetime.fromtimestamp(IN_A_MINUTE, dt.UTC).isoformat(), 60),
        ("anthropic-ratelimit-tokens-reset", "2020-01-01T00:00:00Z", None),
        ("x-ratelimit-reset", "1h2m", endings.LONGEST_WAIT),
        ("x-ratelimit-reset", "1h2", None),
    ],
)
def test_moments_at_which_limits_are_reset(
    name: str, value: str, seconds: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped(monkeypatch, "measurand.providers.endings").now = NOW
    assert endings.wait_asked({name: value}) == (None if seconds is None else pytest.approx(seconds))


def test_google_says_the_wait_in_its_body() -> None:
    body = b'[{"error": {"code": 429, "message": "m", "details": [{"retryDelay": "34.5s"}, {"reason": "X"}]}}]'
    error = endings.failure(ASKED, 429, {}, body)
    assert isinstance(error, CallFailedError)
    assert error.retry_after == 34.5


@pytest.mark.parametrize(
    "junk",
    [b"{" * 100_000, b'"' + b"9" * 100_000, b"a" * 100_000, b"<" * 100_000, b"//@" * 33_000, os.urandom(100_000)],
    ids=["{", '"9', "a", "<", "//@", "random"],
)
def test_junk_is_read_in_no_time(junk: bytes) -> None:
    def read(size: int) -> None:
        body = junk[:size]
        text = body.decode("latin-1")
        for status in (200, 400, 429, 500):
            endings.failure(ASKED, status, {"retry-after": text, "x-ratelimit-reset": text, "date": text}, body)
        endings.unreadable(ASKED, body)
        endings.redirected(ASKED, 302, text)

    assert_grows_gently(read, len(junk))


@given(st.binary(max_size=200), st.sampled_from([200, 400, 401, 404, 413, 429, 500]))
def test_every_error_body_has_a_sentence(body: bytes, status: int) -> None:
    error = endings.failure(ASKED, status, {}, body)
    assert "host" in str(error)
    assert str(error).isprintable()
