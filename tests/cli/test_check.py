"""`measurand check` on a benchmark of texts, which has no right and wrong answers."""

import json

from measurand.cli.main import main


def test_where_nothing_said_has_no_perplexity_it_is_not_applicable(tmp_path, capsys):
    file = tmp_path / "pages.jsonl"
    file.write_text("".join(json.dumps({"page": f" = {name} = \n\n Some text . \n"}) + "\n" for name in "AB"))
    assert main(["check", "wikitext", "--data", f"wikitext:test={file}"]) == 0
    shown = capsys.readouterr().out
    assert "not applicable" in shown
    assert "not measured" not in shown
    assert "wrongly" not in shown
