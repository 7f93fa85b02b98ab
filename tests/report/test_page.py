import base64
import hashlib
import html
import re
from html.parser import HTMLParser

import pytest

from measurand.core.benchmark import Card
from measurand.core.errors import InputError
from measurand.core.estimate import Estimate
from measurand.report.drawing import WIDTH, Scale, bar, scale_of, whisker
from measurand.report.page import fragment, page
from measurand.run.summary import summarise
from tests.report.payloads import PAYLOADS, POISON
from tests.report.reading import browse, read
from tests.report.runs import plain, rich

CARD = Card(
    "Grade School Math",
    "Word problems.",
    ("Only small numbers.",),
    "quiz",
    "openai/gsm8k",
    "8-shot",
    "MIT",
    chance=0.0,
    human=0.98,
)
IMAGE = "<img src='https://example.invalid/x.png'>"


def hostile():
    summaries = [summarise(*rich(3, name="model " + POISON, poison=POISON)), summarise(*rich(4, poison=POISON))]
    card = Card(POISON, POISON, (POISON,), "ask", POISON, POISON, POISON, errata=(POISON,))
    return page(summaries, {"gsm8k": card})


def test_the_page_opens_with_the_claim_and_holds_its_parts():
    text = html.unescape(page([summarise(*rich())], {"gsm8k": CARD}))
    places = [
        text.index(part) for part in ("SmolLM2-135M answers", "The numbers", "What became of", "Only small", "By slice")
    ]
    assert places == sorted(places)
    for part in (
        "too few to say",
        "Trials worth a look",
        "first received 2026-01-04",
        "Read by number_flexible@1",
        "98",
    ):
        assert part in text


def test_the_protocol_stands_beside_every_number():
    store, run = rich()
    text = page([summarise(store, run)])
    rows = re.findall(r'<tr class="[^"]*">.*?</tr>', text, re.DOTALL)
    assert len(rows) == 4 + 2 * (2 + 5)
    assert all(run.protocol[:8] in row for row in rows)


def test_the_policy_names_the_style_and_allows_nothing_else():
    text = page([summarise(*rich())])
    style = re.search(r"<style>(.*?)</style>", text, re.DOTALL)[1]
    expected = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert f"default-src 'none'; style-src 'sha256-{expected}'; img-src data:" in text
    assert "url(" not in style
    assert "@import" not in style


def test_it_is_well_formed_and_without_script_links_or_inline_styles():
    reader = read(page([summarise(*rich()), summarise(*rich(9))], {"gsm8k": CARD}))
    assert not {"script", "iframe", "link", "img", "form", "base", "object"} & set(reader.elements)
    assert not [name for _, name, _ in reader.attributes if name == "style" or name.startswith("on")]
    assert [value for _, name, value in reader.attributes if name in ("href", "src")] == ["#content"]
    assert len(reader.ids) == len(set(reader.ids))
    assert reader.elements.count("h1") == 1
    assert all(value for tag, name, value in reader.attributes if tag == "th" and name == "scope")


def test_what_a_model_wrote_is_text():
    text = hostile()
    reader, calm = read(text), read(page([summarise(*rich(3)), summarise(*rich(4))], {"gsm8k": CARD}))
    assert set(reader.elements) == set(calm.elements)
    assert {name for _, name, _ in reader.attributes} == {name for _, name, _ in calm.attributes}
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", text)
    assert "&lt;script&gt;document.title" in text
    assert "7 * 7" in text
    text.encode()


def test_even_a_hostile_page_stays_small():
    assert len(hostile().encode()) < 3_000_000
    long = "<" * 100_000
    assert len(page([summarise(*rich(seed, poison=long[:3_000])) for seed in range(4)]).encode()) < 3_000_000


def test_runs_side_by_side_are_not_ranked():
    text = page([summarise(*rich(1, "b", 0.2)), summarise(*rich(2, "a", 0.9))])
    assert text.index("b on gsm8k") < text.index("a on gsm8k")
    assert "No order of merit is meant" in text


def test_a_page_of_nothing_is_refused_and_of_little_works():
    with pytest.raises(InputError, match="at least one run"):
        page([])
    assert "Nothing can be said yet" in page([summarise(*plain([None, None, None]))])
    assert "There is no card for gsm8k" in page([summarise(*plain([1.0, 0.0]))])


def test_the_fragment_is_one_small_table():
    text = fragment(summarise(*rich(poison=POISON)))
    reader = read(text)
    assert reader.elements.count("table") == 1
    assert not {"script", "style", "img"} & set(reader.elements)
    assert len(text) < 20_000


def test_a_browser_runs_nothing_and_asks_for_nothing(tmp_path):
    """Rendered by a real browser: the title is ours, nothing was executed, and no request left the page.

    The control shows that the browser and its log would tell. A dialog would block until the time is up.
    """
    control, log, _ = browse(
        tmp_path / "control", f"<!doctype html><title>x</title>{PAYLOADS[0].replace(';alert(1)', '')}{IMAGE}"
    )
    assert "<title>owned</title>" in control
    assert "example.invalid" in log
    dom, log, console = browse(tmp_path / "page", hostile())
    assert "<title>2 runs of gsm8k</title>" in dom
    assert not re.search(r"<(script|iframe|link|form|base|img)\b", dom)
    assert "trials" in dom
    assert "example.invalid" not in log
    assert console == []


def test_payloads_would_do_something_if_they_were_not_escaped():
    assert len(PAYLOADS) > 20
    assert {"script", "svg", "img", "meta", "form", "link"} <= set(_elements(POISON))


def _elements(text: str) -> list[str]:
    found: list[str] = []
    parser = HTMLParser()
    parser.handle_starttag = lambda tag, attrs: found.append(tag)  # type: ignore[method-assign]
    parser.feed(text.replace("<!--", "").replace("<![CDATA[", ""))
    return found


def made(**fields):
    return Estimate(
        **{
            "metric": "m",
            "value": 0.5,
            "low": 0.4,
            "high": 0.6,
            "level": 0.95,
            "method": "",
            "n_items": 9,
            "n_trials": 9,
        }
        | fields
    )


def test_whiskers_are_drawn_to_scale():
    scale = scale_of([made()])
    assert scale == Scale(0.0, 1.0)
    assert scale.x(0.5) == WIDTH / 2
    drawn = whisker(made(bounds=(0.3, 0.7)), scale, {"reference": 0.25})
    lines = [float(value) for value in re.findall(r'class="interval" x1="([\d.]+)" x2', drawn)]
    assert lines == [scale.x(0.4)]
    assert all(part in drawn for part in ("bounds", "reference", "circle"))
    assert "circle" not in whisker(made(value=None, low=None, high=None), scale)
    wide = scale_of(
        [made(unit="score", value=7.0, low=6.0, high=9.0), made(unit="score", value=None, low=None, high=None)]
    )
    assert wide.low < 6
    assert wide.high > 9
    assert scale_of([]).x(99) <= WIDTH


def test_the_bar_adds_up():
    drawn = bar([("answered", 100_000), ("not run", 1), ("failed", 0)])
    widths = [float(width) for width in re.findall(r'width="([\d.]+)" height', drawn)]
    assert sum(widths) == pytest.approx(WIDTH, abs=0.02)
    assert min(widths) >= 1.5
    assert "not-run" in drawn
    assert bar([]).count("rect") == 0
