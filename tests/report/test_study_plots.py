"""Plots: drawn to scale, told in words, free of anything that acts, and written to files."""

import re
import subprocess
import sys
from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest

from measurand.core.errors import InputError
from measurand.report.palette import palette, variable
from measurand.report.study import drawn
from measurand.report.study.charts import WIDTH, specification
from measurand.report.study.drawn import inline, save
from measurand.report.study.plots import MOST_ROWS, plots
from tests.report.payloads import POISON
from tests.report.studies import SKILL, SUBJECTS, findings


@pytest.fixture(scope="module")
def study():
    return findings()


def of_kind(study, kind):
    return [plot for plot in plots(study) if plot.kind == kind]


def dots(svg: str) -> list[float]:
    """Where the dots of a forest plot are, from left to right of the plot, in the order of its rows."""
    return [float(x) for x in re.findall(r'<path transform="translate\(([\d.]+),[\d.]+\)" d="M4,0A4', svg)]


def test_a_study_has_every_kind_of_plot(study):
    kinds = [plot.kind for plot in plots(study)]
    assert {kind: kinds.count(kind) for kind in dict.fromkeys(kinds)} == {
        "estimates": 2,
        "differences": 2,
        "slices": 4,
        "tradeoffs": 2,
        "calibration": 3,
    }
    names = [plot.name for plot in plots(study)]
    assert len(names) == len(set(names))
    assert all(re.fullmatch(r"[a-z0-9-]+", name) for name in names)


def test_dots_and_lines_lie_where_the_numbers_are(study):
    plot = of_kind(study, "estimates")[1]
    places = dots(inline(plot))
    assert places == [pytest.approx(WIDTH * row["value"], abs=0.01) for row in plot.rows]
    starts = [
        float(x) for x in re.findall(r'<line transform="translate\(([\d.]+),[\d.]+\)" x2="[\d.]+" y2="0"', inline(plot))
    ]
    assert starts[-3:] == [pytest.approx(WIDTH * row["low"], abs=0.01) for row in plot.rows]


def test_differences_share_one_scale_around_zero_and_show_the_margin(study):
    first, second = of_kind(study, "differences")
    assert first.domain == second.domain
    assert first.domain[0] == -first.domain[1]
    assert [row["margin"] for row in first.rows] == [None, -0.02, -0.02]
    svg = inline(first)
    assert svg.count('fill="var(--reference)"') + svg.count('stroke="var(--reference)"') == 2


def test_the_chosen_subject_is_told_by_colour_and_by_word(study):
    svg = inline(of_kind(study, "estimates")[0])
    assert svg.count(">assistant-b (chosen)<") == 1
    assert svg.count('"var(--accent)"') == 2


def test_dominated_subjects_are_hollow(study):
    plot = of_kind(study, "tradeoffs")[0]
    assert [row["dominated"] for row in plot.rows] == [True, False, False]
    assert inline(plot).count('fill="var(--paper)"') == 1


def test_only_colours_of_the_style_sheet_and_only_shapes_pass(study):
    for plot in plots(study):
        svg = inline(plot)
        assert not re.search(r"#[0-9a-f]{3,6}\b", svg), plot.name
        assert not re.search(r"<(?!/?(svg|g|path|line|rect|text|tspan)\b)", svg), plot.name
        assert not re.search(r"\b(style|href|class|on\w+)=", svg), plot.name
        assert "xmlns" not in svg
    assert variable(palette()["accent"]) == "var(--accent)"
    with pytest.raises(KeyError):
        variable("#123456")


def test_texts_from_outside_are_text_in_plots_too():
    skills = {key: skill for key, skill in SKILL.items() if key[0] != "present-model"}
    for plot in plots(findings(SUBJECTS[:2], skills, POISON))[:6]:
        svg = inline(plot)
        ET.fromstring(svg)
        assert "<script" not in svg
        assert "&lt;script&gt;" in svg
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e\ud800-\udfff]", svg)


def test_words_tell_every_number_of_a_small_plot(study):
    plot = of_kind(study, "differences")[1]
    assert plot.alt.startswith("Forest plot of differences in accuracy on loan_support.")
    assert all(row["label"] in plot.alt and row["shown"] in plot.alt for row in plot.rows)


def test_a_plot_of_many_subjects_stays_readable():
    subjects = tuple(f"s{number}" for number in range(50))
    plot = of_kind(findings(subjects, {(one, "quiz"): 0.5 for one in subjects}), "estimates")[0]
    assert len(plot.rows) == MOST_ROWS
    assert "and 42 more" in plot.alt


def test_every_specification_is_valid_and_files_carry_their_title(study):
    titles = {specification(plot, titled=True)["title"]["text"] for plot in plots(study)}
    assert "loan_support: accuracy" in titles
    assert "title" not in specification(plots(study)[0])


def test_plots_are_written_as_svg_and_png(tmp_path, study):
    small = findings(SUBJECTS[:2], {(one, "quiz"): 0.5 for one in SUBJECTS[:2]})
    written = save(small, tmp_path / "plots")
    assert len(written) == 2 * len(plots(small)) > 8
    assert sorted(written) == sorted((tmp_path / "plots").iterdir())
    for path in written:
        content = path.read_bytes()
        if path.suffix == ".png":
            assert content.startswith(b"\x89PNG")
        else:
            assert ET.fromstring(content.decode()).get("width")
            assert b"protocol" in content


def test_where_plots_cannot_be_written_a_sentence_says_so(tmp_path, study, monkeypatch):
    (tmp_path / "taken").write_text("a file")
    with pytest.raises(InputError, match="choose another folder"):
        save(study, tmp_path / "taken")
    monkeypatch.setattr(drawn, "available", lambda: False)
    with pytest.raises(InputError, match=r"pip install 'measurand\[plots\]'"):
        save(study, tmp_path / "plots")


def test_the_drawing_library_is_loaded_where_something_is_drawn():
    code = "import sys, measurand.report.study.page, measurand.report.study.terminal; print('altair' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=300)
    assert done.stdout == "False\n"


def test_what_was_not_measured_is_not_drawn(study):
    plot = of_kind(study, "estimates")[0]
    gone = {"value": None, "low": None, "high": None, "bound_low": None, "bound_high": None, "shown": "no number"}
    svg = inline(replace(plot, rows=(*plot.rows[:2], plot.rows[2] | gone)))
    assert len(dots(svg)) == 2
    assert ">no number<" in svg
