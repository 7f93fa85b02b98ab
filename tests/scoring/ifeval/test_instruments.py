"""The instruments below the checks, against the libraries that the reference uses, on thousands of stored replies."""

import random
import re
import shutil
from pathlib import Path

import pytest

from measurand.core.errors import InputError
from measurand.scoring.ifeval import sentences as ours
from measurand.scoring.ifeval.capitals import count_capital_words
from measurand.scoring.ifeval.detecting import language_of
from measurand.scoring.ifeval.sentences import english, model_folder, sentences
from tests.needs import needed
from tests.scoring.ifeval.replies import texts

ODD = [
    "Very bad acting!!! I promise.", 'He said "Stop." Then he left.', "(One.) (Two.) Three", "It is 3.50. 4 left.",
    "J. Bach wrote it. In 1720. maybe", "See e.g. this... And that. . . . So", "“Curly.” ‘Quotes.’ «So.» End.",
    "a.m. and p.m. The U.S. is big. Mr. Smith", "Wait?! No... yes.", "...", "", " ", ".", "!?", "x.\n\ny.", "1. One\n2. Two",
    "No. 5 is alive. no. 6 is not", "St. Mary. Corp. It", "end.) next", "-- a. -- b.", "A. B. C.", "etc. The rest",
]  # fmt: skip
PIECES = [
    "Mr",
    ".",
    " ",
    "!",
    "?",
    "\n",
    '"',
    ")",
    "U.S.",
    "e.g.",
    "3",
    "word",
    "The",
    "and",
    "...",
    "--",
    ",",
    "’",
    "”",
    "J.",
]


def mixed(seed: int) -> str:
    draw = random.Random(seed)
    return "".join(draw.choice(PIECES) for _ in range(draw.randint(1, 30)))


def test_sentences_are_split_as_nltk_splits_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On all stored replies and on texts made to be hard: no difference."""
    punkt = needed("nltk.tokenize.punkt", "nltk")
    kept = tmp_path / "tokenizers" / "punkt_tab" / "english"
    shutil.copytree(model_folder(), kept)
    monkeypatch.setattr("nltk.data.path", [str(tmp_path)])
    theirs = punkt.PunktTokenizer("english")
    for text in [*ODD, *map(mixed, range(1500)), *texts()[::8]]:
        assert sentences(text, english()) == theirs.tokenize(text)


def test_words_in_capitals_are_counted_as_nltk_cuts_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tokenize = needed("nltk.tokenize", "nltk")
    shutil.copytree(model_folder(), tmp_path / "tokenizers" / "punkt_tab" / "english")
    monkeypatch.setattr("nltk.data.path", [str(tmp_path)])
    tokenize._get_punkt_tokenizer.cache_clear()
    for text in [text.upper() for text in texts()[:60]] + [
        text for text in texts()[::8] if re.search("[A-Z]{3}", text)
    ]:
        assert count_capital_words(text) == sum(word.isupper() for word in tokenize.word_tokenize(text))
    tokenize._get_punkt_tokenizer.cache_clear()


def test_language_is_what_langdetect_finds_at_the_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    langdetect = needed("langdetect", "'measurand[ifeval]'")
    monkeypatch.setattr(langdetect.DetectorFactory, "seed", 0)

    def theirs(text: str) -> str | None:
        try:
            return str(langdetect.detect(text))
        except langdetect.LangDetectException:
            return None

    hard = [
        "123",
        "a",
        "PRADA OR NIKE?",
        "ok ok",
        "字",
        "Тест",
        "see https://a.b/c or me@home.org",
        "ça",
        "ỆỄ",
        "\u0219i",
    ]
    for text in [*hard, *texts()[::40], *(text.upper() for text in texts()[:20])]:
        assert language_of(text) == theirs(text), text[:80]


def test_the_model_is_found_in_nltks_own_folders_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = tmp_path / "tokenizers" / "punkt_tab" / "english"
    kept.mkdir(parents=True)
    (kept / "abbrev_types.txt").write_text("mr\n")
    monkeypatch.setenv("NLTK_DATA", str(tmp_path))
    assert model_folder() == kept


def test_without_a_model_the_error_says_what_to_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("NLTK_DATA", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(ours, "_packaged", lambda: iter(()))
    with pytest.raises(InputError, match="pip install --no-deps llama-index-core"):
        model_folder()
