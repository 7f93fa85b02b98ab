"""The language of a text, as langdetect finds it with seed 0: the same draws and sums, so the same verdict, but faster.

The method is naive Bayes over runs of one to three letters, seven times over a random sample of them (Nakatani 2010).
"""

from __future__ import annotations

import math
import random
import re
from functools import lru_cache
from typing import TYPE_CHECKING

from measurand.core.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from langdetect.utils.ngram import NGram
    from numpy.typing import NDArray

SEED = 0
_TRIALS, _MOST_STEPS, _CHECKED_EVERY = 7, 1000, 5
_ALPHA, _ALPHA_WIDTH, _BASE = 0.5, 0.05, 10_000
_CONVERGED, _LEAST = 0.99999, 0.1
_LONGEST_TAPE = 32_768  # words; seven trials of a thousand draws, of which up to half are in vain, need fewer
_AT_ONCE = 128  # words looked at together
_LONGEST = 10_000  # characters that are looked at
_LATIN = re.compile("[A-z]")
_OTHER = re.compile("[\u0300-\u1dff\u1f00-\U0010ffff]")


class _Folds(dict[int, str]):
    """What a character is taken for, worked out when first met."""

    def __init__(self, ngram: type[NGram]) -> None:
        super().__init__()
        self._ngram = ngram

    def __missing__(self, code: int) -> str:
        self[code] = folded = str(self._ngram.normalize(chr(code)))
        return folded


class _Model:
    """The profiles of all languages, and how a character is folded."""

    def __init__(self) -> None:
        try:
            from langdetect import detector_factory
            from langdetect.detector import Detector
            from langdetect.utils.ngram import NGram
        except ImportError as error:
            raise InputError(
                "to find a reply's language, langdetect is needed: pip install 'measurand[ifeval]'"
            ) from error
        from pathlib import Path

        import numpy as np

        # The order of the profiles decides the last digit of a sum; a directory's own order differs by machine.
        profiles = sorted(path for path in Path(detector_factory.PROFILES_DIRECTORY).iterdir() if path.is_file())
        factory = detector_factory.DetectorFactory()
        factory.load_json_profile([path.read_text(encoding="utf-8") for path in profiles])
        self.languages: list[str] = factory.langlist
        self._rows = {gram: row for row, gram in enumerate(factory.word_lang_prob_map)}
        self.weights: NDArray[np.float64] = np.array(list(factory.word_lang_prob_map.values()))
        self._words: dict[str, list[int]] = {}
        self._folds = _Folds(NGram)
        self._ngram: type[NGram] = NGram
        self._addresses = (("://", Detector.URL_RE), ("@", Detector.MAIL_RE))

    def grams(self, text: str) -> list[int]:
        """The runs of letters that the profiles know, in order, by their weights' rows; none from words in capitals."""
        for sign, address in self._addresses:
            if sign in text:
                text = address.sub(" ", text)
        text = (text if text.isascii() else self._ngram.normalize_vi(text))[:_LONGEST]
        if not text.isascii() and len(_LATIN.findall(text)) * 2 < len(_OTHER.findall(text)):
            text = _LATIN.sub("", text)
        ended = text.translate(self._folds)
        *words, last = ended.split(" ")
        found: list[int] = []
        for word in words:
            if word:
                found += self._of_word(f"{word} ")
        return found + self._of_word(last)

    def _of_word(self, word: str) -> list[int]:
        """The runs of one word and the space after it."""
        found = self._words.get(word)
        if found is None:
            found, run, capitals = [], " ", False
            for char in word:
                capitals = (capitals or run[-1].isupper()) if char.isupper() else False
                run = (run + char)[-3:]
                runs = [] if capitals else [run[-size:] for size in range(1, len(run) + 1)]
                found += [self._rows[one] for one in runs if one in self._rows and one != " "]
            self._words[word] = found
        return found


class _Draws:
    """The draws of random.Random(seed), on a tape: many are looked at together, and only those used are passed over."""

    def __init__(self, seed: int) -> None:
        import numpy as np

        source = random.Random(seed)  # noqa: S311  # nothing secret, and the same on every run
        self._tape = np.array([source.getrandbits(32) for _ in range(_LONGEST_TAPE)], dtype=np.uint64)

    def normal(self, place: int) -> tuple[float, float]:
        """The two normal numbers of gauss() from here; they take four words."""
        high, low, more, less = (int(word) for word in self._tape[place : place + 4])
        angle = ((high >> 5) * 67108864.0 + (low >> 6)) / 9007199254740992.0 * math.tau
        radius = math.sqrt(-2.0 * math.log(1.0 - ((more >> 5) * 67108864.0 + (less >> 6)) / 9007199254740992.0))
        return math.cos(angle) * radius, math.sin(angle) * radius

    def below(self, size: int, place: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """What the next calls of choice() among `size` would take, and the place on the tape after each."""
        import numpy as np

        drawn = self._tape[place : place + _AT_ONCE] >> np.uint64(32 - size.bit_length())
        taken = np.flatnonzero(drawn < size)
        return drawn[taken].astype(np.intp), taken + place + 1


@lru_cache(maxsize=1)
def _model() -> _Model:
    return _Model()


@lru_cache(maxsize=64)
def _draws(seed: int) -> _Draws:
    return _Draws(seed)


@lru_cache(maxsize=4096)
def language_of(text: str, seed: int = SEED) -> str | None:
    """The code of the language (ISO 639-1, zh-cn and zh-tw apart), "unknown", or None where there is nothing to go by.

    Another seed may find another language in a text that is short, mixed or coded.

    Raises:
        InputError: langdetect is not installed.
    """
    import numpy as np

    model = _model()
    grams = np.array(model.grams(text), dtype=np.intp)
    if not len(grams):
        return None
    draws, place, spare, total = _draws(seed), 0, 0.0, np.zeros(len(model.languages))
    for trial in range(_TRIALS):
        if trial % 2 == 0:
            width, spare = draws.normal(place)
            place += 4
        else:
            width = spare
        likely, place = _sampled(model, draws, grams, (_ALPHA + width * _ALPHA_WIDTH) / _BASE, place)
        total += likely / _TRIALS
    best = int(total.argmax())
    return model.languages[best] if total[best] > _LEAST else "unknown"


def _sampled(
    model: _Model, draws: _Draws, grams: NDArray[np.intp], smoothing: float, place: int
) -> tuple[NDArray[np.float64], int]:
    """How likely each language is after runs drawn until one stands out, and the place on the tape after them."""
    import numpy as np

    log_likely, seen = np.zeros(len(model.languages)), 0
    while True:
        picks, places = draws.below(len(grams), place)
        sums = log_likely + np.cumsum(np.log(model.weights[grams[picks]] + smoothing), axis=0)
        checked = np.arange(-seen % _CHECKED_EVERY, len(picks), _CHECKED_EVERY)
        each = np.exp(sums[checked] - sums[checked].max(axis=1, keepdims=True))
        each /= each.sum(axis=1, keepdims=True)
        ends = np.flatnonzero((each.max(axis=1) > _CONVERGED) | (checked + seen >= _MOST_STEPS))
        if len(ends):
            return each[ends[0]], int(places[checked[ends[0]]])
        log_likely, seen, place = sums[-1], seen + len(picks), int(places[-1])
