"""The page of a study: its order, its numbers, its safety, its size, and that anybody can read it."""

import itertools
import re

import msgspec
import pytest

from measurand.core.benchmark import Card
from measurand.core.claim import AboutModel
from measurand.core.decision import Decision
from measurand.core.findings import Findings
from measurand.core.identity import canonical, decode
from measurand.report.html import style_sheet
from measurand.report.palette import palette
from measurand.report.study import drawn
from measurand.report.study.glossary import WORDS
from measurand.report.study.page import findings_page
from tests.report.payloads import POISON
from tests.report.reading import browse, read
from tests.report.studies import CARDS, SKILL, SUBJECTS, findings

SMALL = {key: skill for key, skill in SKILL.items() if key[0] != "present-model"}
HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


@pytest.fixture(scope="module")
def study():
    return findings()


@pytest.fixture(scope="module")
def page(study):
    return findings_page(study, CARDS)


@pytest.fixture(scope="module")
def hostile():
    cards = {name: Card(POISON, POISON, (POISON,), "ask", POISON, POISON, POISON, errata=(POISON,)) for name in CARDS}
    return findings_page(findings(SUBJECTS[:2], SMALL, POISON), cards)


@pytest.fixture
def without_plots(monkeypatch):
    monkeypatch.setattr("measurand.report.study.page.available", lambda: False)


def test_the_answer_comes_first_and_the_protocol_last(page):
    text = read(page).root.text(without=("style", "title"))
    parts = (
        "Which assistant should answer",
        "Ship assistant-b",
        "SIMULATED",
        "24.2 points",
        "How sure is this?",
        "What is not known?",
        "What would change the answer?",
        "The rules of the decision",
        "What each subject reached",
        "Who can be told apart",
        "Differences, on the same items",
        "Slice by slice",
        "What was measured, and what was not",
        "Quality, cost and latency",
        "Can its confidence be believed?",
        "Threats to what is said here",
        "What would change the decision",
        "Run by run",
        "Protocols in full",
    )
    places = [text.index(part) for part in parts]
    assert places == sorted(places)


def test_every_rule_stands_with_its_verdict_its_reason_and_what_would_decide_it(page, study):
    table = next(one for one in read(page).root.all("table") if "rules" in one.attributes.get("class", ""))
    rows = [[cell.text() for cell in row.all("th", "td")] for row in table.all("tr")]
    for rule in study.decision.rules:
        row = next(row for row in rows if row[0].startswith(rule.subject) and rule.because in row)
        assert rule.verdict in row[1]
        if rule.needs:
            assert f"{rule.needs} more items" in row[3]
    assert sum("more items cannot decide it" in row[-1] for row in rows) == 1


def test_every_empty_cell_of_the_matrix_says_why(page, study):
    text = read(page).root.text()
    for cell in study.coverage:
        assert cell.estimate is not None or cell.why in text
    matrices = [one for one in read(page).root.all("table") if one.attributes.get("class") == "matrix"]
    assert len(matrices) == len(study.subjects)
    assert sum(len(list(one.all("td"))) for one in matrices) == len(study.coverage)
    assert "chosen" in matrices[0].text() or study.decision.chosen in next(matrices[0].all("caption")).text()


def test_no_rank_is_shown_where_it_was_refused(page):
    assert "No rank: two protocols" in page
    assert "must not be compared: the asking differs" in read(page).root.text()


def numbers(text: str) -> list[str]:
    return re.findall(r"\d[\d,]*(?:\.\d+)?", text)


def known_numbers(study) -> set[str]:
    """The numbers of the JSON in every form in which a page may write them."""
    known: set[str] = set()

    def walk(value):
        if isinstance(value, dict):
            for name, inner in value.items():
                walk(name)
                walk(inner)
        elif isinstance(value, list):
            for inner in value:
                walk(inner)
        elif isinstance(value, str):
            known.update(numbers(value))
        elif isinstance(value, int | float) and not isinstance(value, bool):
            size = abs(value)
            known.update((f"{100 * size:.1f}", f"{100 * size:.0f}", f"{size:,.3f}", f"{size:,}", f"{size:.3g}"))

    walk(msgspec.json.decode(canonical(study)))
    return known


def strange_numbers(page: str, study) -> set[str]:
    """Numbers in the evidence's cells that the JSON does not hold."""
    known = known_numbers(study) | {"0.001"}  # "p < 0.001"
    section = next(one for one in read(page).root.all("section") if one.attributes.get("aria-labelledby") == "evidence")
    cells = [cell.text(without=("sup", "code", "svg", "ol")) for cell in section.all("td")]
    assert len(cells) > 50
    return {number for cell in cells for number in numbers(cell)} - known


def test_every_number_on_the_page_is_in_the_json():
    study = findings(SUBJECTS[:2], {key: skill for key, skill in SMALL.items() if key[1] == "loan_support"})
    page = findings_page(study)
    assert strange_numbers(page, study) == set()
    shown = f"{100 * study.summaries[0].views[0].estimate.value:.1f}"
    assert strange_numbers(page.replace(f"{shown}\u00a0%", "12.3456\u00a0%"), study) == {"12.3456"}
    assert decode(canonical(study), Findings) == study


def test_the_same_findings_make_the_same_page(study, page):
    assert findings_page(study, CARDS) == page


def test_headings_are_in_order_and_landmarks_are_few(page):
    reader = read(page)
    levels = [int(tag[1]) for tag in reader.elements if re.fullmatch(r"h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in itertools.pairwise(levels))
    assert [reader.elements.count(one) for one in ("main", "nav", "footer")] == [1, 1, 1]
    assert all(nav.attributes.get("aria-label") for nav in reader.root.all("nav"))
    assert next(reader.root.all("html")).attributes["lang"] == "en"


def test_tables_have_captions_scopes_and_names(page):
    for table in read(page).root.all("table"):
        assert next(table.all("caption")).text().strip()
        assert all(head.attributes.get("scope") for head in table.all("th"))
        for row in table.all("tr"):
            assert list(row.all("th")), "a row without a header"
    assert all(one.attributes.get("aria-label") for one in read(page).root.all("div") if "tabindex" in one.attributes)


def test_every_plot_has_words_and_its_numbers_in_a_table(page, study):
    root = read(page).root
    figures = list(root.all("figure"))
    assert len(figures) == 9
    text = " ".join(cell.text() for cell in root.all("td", "th")).replace("\u00a0", " ")
    for figure in figures:
        svg = next(figure.all("svg"))
        assert svg.attributes["role"] == "img"
        words = svg.attributes["aria-label"].replace("\u00a0", " ")
        assert len(words) > 80
        assert set(numbers(words)) - {"-", "1,000", "95"} <= set(numbers(text)), words
        assert next(figure.all("code")).text() in {one.run.protocol[:8] for one in study.summaries}


def test_every_link_stays_on_the_page_and_leads_somewhere(page):
    reader = read(page)
    links = [value for _, name, value in reader.attributes if name in ("href", "src", "xlink:href")]
    assert len(links) > 30
    assert {link[1:] for link in links} <= set(reader.ids)
    assert len(reader.ids) == len(set(reader.ids))
    named = [value for _, name, value in reader.attributes if name == "aria-labelledby"]
    assert set(named) <= set(reader.ids)
    assert all(f"word-{word.replace(' ', '-')}" in reader.ids for word in WORDS)


def test_what_came_from_outside_is_text(page, hostile):
    reader, calm = read(hostile), read(page)
    assert set(reader.elements) <= set(calm.elements)
    assert {name for _, name, _ in reader.attributes} <= {name for _, name, _ in calm.attributes}
    assert not HIDDEN.search(hostile)
    assert not {"script", "iframe", "link", "img", "form", "base", "object", "style" * 2} & set(reader.elements)
    assert not [name for _, name, _ in reader.attributes if name == "style" or name.startswith("on")]
    assert [value for _, name, value in reader.attributes if name == "href" and not value.startswith("#")] == []
    assert "&lt;script&gt;document.title" in hostile
    hostile.encode()
    assert len(hostile.encode()) < 3_000_000


def test_poison_reached_every_part_of_the_page(hostile):
    root = read(hostile).root
    for name in ("rules", "evidence", "threats", "change", "runs", "protocols", "glance-unknown", "glance-change"):
        section = next(one for one in root.all("section") if one.attributes.get("aria-labelledby") == name)
        assert "onerror=alert" in section.text(), name
    assert all(
        "onerror" in one.attributes["aria-label"] or "…" in one.attributes["aria-label"]
        for one in root.all("svg")
        if "aria-label" in one.attributes
    )


def test_a_browser_runs_nothing_asks_for_nothing_and_complains_of_nothing(tmp_path, hostile):
    control = hostile.replace("</main>", "<script>1</script><p style='color:red'>x</p></main>")
    _, _, console = browse(tmp_path / "control", control)
    assert len(console) >= 2, "a browser that says nothing proves nothing"
    dom, log, console = browse(tmp_path / "page", hostile)
    assert console == []
    assert "example.invalid" not in log
    assert not re.search(r"<(script|iframe|link|form|base|img)\b", dom)
    assert dom.count("<figure") == hostile.count("<figure") > 0


def test_without_the_extra_the_tables_draw_and_the_page_says_what_is_missing(without_plots, study):
    page = findings_page(study, CARDS)
    root = read(page).root
    assert drawn.NEEDS in root.text()
    assert list(root.all("figure")) == []
    evidence = next(one for one in root.all("section") if one.attributes.get("aria-labelledby") == "evidence")
    drawings = [svg for svg in evidence.all("svg") if svg.attributes.get("class") == "whisker"]
    assert len(drawings) > 60
    assert 'class="zero"' in page
    assert "The dashed line, where there is one, is the" in root.text()


def test_a_large_study_stays_under_three_megabytes(without_plots):
    subjects = tuple(f"subject-{number:02d}" for number in range(20))
    skills = {(one, f"scenario-{number:02d}"): 0.5 + number / 50 for number in range(20) for one in subjects}
    page = findings_page(findings(subjects, skills))
    assert 1_500_000 < len(page.encode()) < 3_000_000
    left_out = re.search(r"([\d,]+) runs are left out", page)
    assert left_out
    shown = page.count('<details class="run">')
    assert shown + int(left_out[1].replace(",", "")) == 400
    assert shown > 0
    assert "more are left out to keep the page small; the JSON has them" in page


@pytest.mark.slow
def test_a_large_study_with_plots_stays_under_three_megabytes():
    subjects = tuple(f"subject-{number:02d}" for number in range(20))
    skills = {(one, f"scenario-{number:02d}"): 0.5 + number / 50 for number in range(20) for one in subjects}
    page = findings_page(findings(subjects, skills))
    assert page.count("<figure") >= 60
    assert len(page.encode()) < 3_000_000
    assert page.count('<details class="run">') > 0


def test_little_findings_make_a_page():
    empty = Findings("s", ("a",), Decision("Which?", AboutModel(), (), (), (), ()), ())
    text = read(findings_page(empty)).root.text()
    assert "There is no answer yet" in text
    assert "states no rules" in text


def luminance(colour: str) -> float:
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, two: str) -> float:
    """The contrast ratio of WCAG 2.2."""
    low, high = sorted((luminance(one), luminance(two)))
    return (high + 0.05) / (low + 0.05)


def mixed(one: str, two: str, share: float) -> str:
    pairs = [(int(one[place : place + 2], 16), int(two[place : place + 2], 16)) for place in (1, 3, 5)]
    return "#" + "".join(f"{round(a * share + b * (1 - share)):02x}" for a, b in pairs)


@pytest.mark.parametrize("dark", [False, True])
def test_text_can_be_told_from_its_ground(dark):
    colours = palette(dark=dark)
    for text in ("ink", "soft", "accent", "pass", "fail", "undecided"):
        for ground in ("paper", "panel"):
            assert contrast(colours[text], colours[ground]) >= 4.5, (text, ground)
    for mark in ("accent", "soft", "reference", "answered", "failed", "refused", "blocked"):
        assert contrast(colours[mark], colours["paper"]) >= 3 or mark == "refused", mark
    shares = [int(share) / 100 for share in re.findall(r"color-mix\(in srgb, var\(--accent\) (\d+)%", style_sheet())]
    assert len(shares) == 11
    for share in shares:
        assert contrast(colours["ink"], mixed(colours["accent"], colours["paper"], share)) >= 4.5
    assert contrast(colours["line"], colours["paper"]) < 4.5, "the measure can fail"
