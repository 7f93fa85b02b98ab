"""A request to a subject, how it decodes, which draw it is, and the key under which its reply is kept."""

from __future__ import annotations

from functools import lru_cache

from measurand.core.identity import canonical, digest
from measurand.core.message import Message, Tool
from measurand.core.record import Json, Record


class Decode(Record, frozen=True):
    """How the next token is chosen. None leaves a choice to the subject, which is then part of who it is."""

    temperature: float | None = 0.0
    top_p: float | None = None
    max_tokens: int | None = None
    stop: tuple[str, ...] = ()
    seed: int | None = None
    top_logprobs: int = 0
    effort: str = ""

    @property
    def samples(self) -> bool:
        """Whether two draws of one request may differ by design."""
        return self.temperature is None or self.temperature > 0


class Generate(Record, frozen=True, tag="generate"):
    """The next message of a conversation. `schema` asks for JSON of that schema."""

    messages: tuple[Message, ...]
    tools: tuple[Tool, ...] = ()
    schema: dict[str, Json] | None = None
    decode: Decode = Decode()


class Complete(Record, frozen=True, tag="complete"):
    """What follows a raw text, without a chat template. Chat and raw are different protocols."""

    prompt: str
    decode: Decode = Decode()


class Loglikelihood(Record, frozen=True, tag="loglikelihood"):
    """The log-probability, in nats, of each continuation after a raw context."""

    context: str
    continuations: tuple[str, ...]


class Rolling(Record, frozen=True, tag="rolling"):
    """The log-probability, in nats, of a whole text, read in windows of so many tokens.

    The first token is conditioned on BOS (or EOS where there is no BOS). Each window but the first scores the next
    `stride` tokens; with a stride as long as the window, windows are disjoint.
    """

    text: str
    window: int
    stride: int


class Embed(Record, frozen=True, tag="embed"):
    """A vector for each text."""

    texts: tuple[str, ...]


Request = Generate | Complete | Loglikelihood | Rolling | Embed


class Draw(Record, frozen=True, gc=False):
    """Which of several equal requests this is.

    `nth` counts the same request within one trial. `occasion` names a deliberate new measurement. `item` is
    given only when decoding samples: two items that ask the same greedy question may share one reply.
    """

    sample_no: int = 0
    nth: int = 0
    occasion: str = ""
    item: str = ""


def key(subject_id: str, request: Request, draw: Draw) -> bytes:
    """The 16-byte key of a reply: the subject, the whole request, and the draw."""
    return draw_key(subject_id, digest(canonical(request)), draw)


def draw_key(subject_id: str, request_digest: bytes, draw: Draw) -> bytes:
    """The same, from the digest of the canonical request: plans keep digests, not requests."""
    return digest(subject_id.encode(), request_digest, _canonical_draw(draw))


@lru_cache(maxsize=256)
def _canonical_draw(draw: Draw) -> bytes:
    """Most trials of a run have the same draw."""
    return canonical(draw)


def samples(request: Request) -> bool:
    """Whether the request's reply is drawn at random."""
    return isinstance(request, Generate | Complete) and request.decode.samples
