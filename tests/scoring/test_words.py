import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from measurand.scoring.words import count, ngrams, spans, words


def test_words_of_many_scripts():
    assert words("हिंदी में किताबें") == ["हिंदी", "में", "किताबें"]
    assert words("don't stop, l’eau") == ["don't", "stop", "l’eau"]
    assert words("well-known 3.14 1,000.") == ["well", "known", "3.14", "1,000"]
    assert words("東京タワー is ok") == ["東", "京", "タ", "ワ", "ー", "is", "ok"]
    assert words("cafe\u0301") == ["café"]
    assert words("می‌خواهم") == ["می‌خواهم"]
    assert words("'quoted' ...") == ["quoted"]
    assert words("") == []


@given(st.text(max_size=60))
def test_no_word_is_torn_and_none_is_empty(text):
    text = unicodedata.normalize("NFC", text)
    end = 0
    for start, stop in spans(text):
        assert end <= start < stop
        assert not unicodedata.category(text[start]).startswith(("M", "Z", "C"))
        assert not text[stop : stop + 1] or unicodedata.category(text[stop])[0] != "M"
        end = stop
    assert count(text) == len(words(text))


@given(st.lists(st.sampled_from(["हिंदी", "word", "3.5", "東", "don't"]), max_size=8))
def test_words_with_spaces_between_are_themselves(parts):
    assert words(" ".join(parts)) == parts


@given(st.lists(st.sampled_from("abc"), max_size=10), st.integers(-1, 5))
def test_ngrams_add_up(tokens, n):
    assert sum(ngrams(tokens, n).values()) == (max(0, len(tokens) - n + 1) if n >= 1 else 0)
