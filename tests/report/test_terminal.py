import io

from rich.console import Console

from measurand.core.identity import decode
from measurand.core.summary import Summary
from measurand.report.plain import as_json, markdown
from measurand.report.terminal import plain, terminal
from measurand.run.summary import summarise
from tests.report.payloads import POISON
from tests.report.runs import plain as plain_run
from tests.report.runs import rich

SHORT = "\x1b[31mred\x1b]8;;x\x07\u202e[bold red]m[/bold red]"


def test_the_claim_comes_first_and_every_number_has_its_protocol():
    store, run = rich()
    text = plain(summarise(store, run), 140).replace("\u00a0", " ")
    assert text.startswith("SmolLM2-135M answers 53.0 % [47.4 to 58.7] of the items of gsm8k correctly")
    numbers = [line for line in text.splitlines() if " to " in line and "%  " in line]
    assert len(numbers) == 4 + 2 * 7
    assert all(run.protocol[:8] in line for line in numbers)
    assert "317 trials planned = 299 answered + 13 truncated + 1 refused + 2 blocked + 2 failed" in text
    assert "too few to say" in text


def test_without_a_terminal_there_is_nothing_but_text():
    text = plain(summarise(*rich(poison=SHORT)), 200)
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "⟨U+202E⟩[bold red]m[/bold red]" in text


def test_on_a_terminal_the_models_escapes_are_shown_not_obeyed():
    target = io.StringIO()
    console = Console(file=target, force_terminal=True, width=200, color_system="truecolor")
    console.print(terminal(summarise(*rich(poison=SHORT))))
    console.print(terminal(summarise(*rich(poison=POISON))))
    assert "\x1b[31mred" not in target.getvalue()
    assert "\x1b]8;" not in target.getvalue()
    assert "␛[31m" in target.getvalue()


def test_nothing_missing_needs_no_columns_about_it():
    text = plain(summarise(*plain_run([1.0, 0.0, 1.0])))
    assert "bounds" not in text
    assert "missing" not in text


def test_markdown_holds_one_table_for_each_view_and_no_markup_from_outside():
    text = markdown(summarise(*rich(poison=POISON)))
    lines = text.splitlines()
    assert sum(line.startswith("|---") for line in lines) == 3
    assert all(line.count("|") - line.count("\\|") == 9 for line in lines if line.startswith("| "))
    assert "](https" not in text
    assert "<script" not in text.replace("\\<", "")
    assert not [line for line in lines if line.startswith("#")]


def test_json_comes_back_as_the_same_record():
    summary = summarise(*rich())
    assert decode(as_json(summary), Summary) == summary
