"""Every flag of every command, in one place. No flag changes a protocol silently: what does is hashed."""

from __future__ import annotations

import argparse

MODULES = {
    "run": "run",
    "plan": "run",
    "score": "run",
    "ls": "look",
    "show": "look",
    "report": "look",
    "export": "look",
    "compare": "compare",
    "watch": "watch",
    "gate": "gate",
    "decisions": "decisions",
    "leaderboard": "outside",
    "signals": "outside",
    "check": "check",
    "verify": "verify",
    "doctor": "doctor",
    "completion": "completion",
}
"""The module of `measurand.cli` that carries out each command."""


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one sentence, and exits with 2."""

    def error(self, message: str) -> None:  # type: ignore[override] # argparse declares NoReturn; exit() never returns
        self.exit(2, f"measurand: {message}; see `{self.prog} --help`\n")


def build_parser() -> argparse.ArgumentParser:
    """The whole command line."""
    parser = _Parser(prog="measurand", description="Evaluate language models, and decide on what was measured.")
    parser.add_argument("--version", action="version", version=_version())
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=_Parser)
    _run_parser(commands.add_parser("run", help="evaluate a subject on a benchmark, a data file or a study"))
    _run_parser(commands.add_parser("plan", help="show what a run would ask, cost and be able to detect"))
    _score_parser(commands.add_parser("score", help="read and score stored replies again, without a model"))
    _ls_parser(commands.add_parser("ls", help="list the runs in the store, or the benchmarks"))
    _show_parser(commands.add_parser("show", help="show one trial: every call as sent and received, and its scores"))
    _report_parser(commands.add_parser("report", help="show runs as tables, or write them as one page"))
    _compare_parser(commands.add_parser("compare", help="compare two runs in pairs, and say in what they differ"))
    _watch_parser(commands.add_parser("watch", help="evaluate each new checkpoint of a training: curves, alerts"))
    _gate_parser(commands.add_parser("gate", help="let a change pass or not: 0 pass, 1 fail, 3 cannot say"))
    _decisions_parser(commands.add_parser("decisions", help="sign what a study came to, and list what was decided"))
    _leaderboard_parser(commands.add_parser("leaderboard", help="read published results with doubt"))
    _signals_parser(commands.add_parser("signals", help="turn a log of what users did into numbers by cohort"))
    _export_parser(commands.add_parser("export", help="write the trials of a run to a table file"))
    _check_parser(commands.add_parser("check", help="render three prompts of a benchmark and score known answers"))
    _verify_parser(commands.add_parser("verify", help="score stored outputs of others again, and compare the figures"))
    doctor = commands.add_parser("doctor", help="say what this machine can do, what it lacks, and how to mend it")
    doctor.add_argument("--clean", action="store_true", help="remove what sandboxes of killed runs left behind")
    completion = commands.add_parser("completion", help="print a completion script for your shell")
    completion.add_argument("shell", choices=("bash", "zsh", "tcsh"))
    return parser


def _version() -> str:
    from measurand import __version__

    return f"measurand {__version__}"


def _run_parser(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", help="a benchmark (gsm8k:chat), a data file (items.csv), or a study (study.toml)")
    parser.add_argument("--subject", action="append", default=[], metavar="SPEC", help="who answers: openai:NAME, …")
    _what_flags(parser.add_argument_group("what is asked (part of the protocol)"))
    _file_flags(parser.add_argument_group("columns of a data file"))
    _subject_flags(parser.add_argument_group("the subject"))
    _limit_flags(parser.add_argument_group("limits"))
    parser.add_argument_group("programs that the subject writes").add_argument(
        "--no-isolation",
        default="",
        metavar="SENTENCE",
        help="run them in this run although nothing isolates them: "
        '"I accept that model-written code runs as me" (recorded, and shown by every report)',
    )
    _output_flags(parser.add_argument_group("output"))


def _what_flags(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--subset", type=int, metavar="N", help="a seeded sample of N items")
    group.add_argument("--seed", type=int, default=0, help="the seed of the sample (default 0)")
    group.add_argument("--stratify", default="", metavar="FIELD", help="keep the shares of this slice in the sample")
    group.add_argument("--samples", type=int, metavar="K", help="K answers to each item")
    group.add_argument("--shot-orders", type=int, metavar="K", help="ask each item in K orders of its exemplars")
    group.add_argument("--max-output", type=int, metavar="N", help="tokens of one reply")
    group.add_argument("--data", action="append", default=[], metavar="NAME=PATH", help="a local copy of a data set")
    group.add_argument("--occasion", default="", metavar="NAME", help="measure again on purpose, under this name")


def _file_flags(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--question", default="", metavar="COLUMN")
    group.add_argument("--conversation", default="", metavar="COLUMN", help="messages as JSON instead of a question")
    group.add_argument("--answer", default="", metavar="COLUMN")
    group.add_argument("--options", default="", metavar="COLUMN", help="the options of a multiple choice")
    group.add_argument("--rubric", default="", metavar="COLUMN", help="kept unscored until there are judges")
    group.add_argument(
        "--scoring",
        default="exact",
        metavar="NAME",
        help="exact, numeric, contains, regex, choice, token_f1, json_schema, perplexity, column:NAME "
        "or python:module:function",
    )
    group.add_argument("--window", type=int, default=1024, metavar="N", help="tokens read at once, for perplexity")
    group.add_argument("--stride", type=int, metavar="N", help="tokens that each window adds (default: the window)")
    group.add_argument("--slices", default="", metavar="A,B", help="columns to report by")
    group.add_argument("--id", default="", metavar="COLUMN")
    group.add_argument("--language", default="", metavar="COLUMN")
    group.add_argument("--prompt", default="", metavar="TEXT", help="a template that may use {{column}} names")
    group.add_argument("--system", default="", metavar="TEXT")
    group.add_argument("--local-only", action="store_true", help="refuse any endpoint that is not on this machine")


def _subject_flags(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--base-url", default="", metavar="URL")
    group.add_argument("--key-env", default="", metavar="NAME", help="the environment variable that holds the key")
    group.add_argument("--api-version", default="", metavar="DATE", help="Azure OpenAI")
    group.add_argument("--price", default="", metavar="IN,OUT", help="US dollars for a million tokens")
    group.add_argument(
        "--passes",
        default="single pass",
        choices=("majority", "search", "every"),
        help="what one answer rests on, where it is more than a single pass: never ranked with one",
    )
    group.add_argument("--device", default="", metavar="NAME", help="cpu or cuda, for transformers:NAME")
    group.add_argument("--dtype", default="", metavar="NAME", help="float32 (default), bfloat16 or float16")
    group.add_argument("--stream", action="store_true", help="stream replies, which times the first token")
    group.add_argument("--allow-endpoint", action="append", default=[], metavar="NAME", help="for local-only data")


def _limit_flags(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--concurrency", type=int, default=64, metavar="N", help="most requests at once (default 64)")
    group.add_argument("--max-tries", type=int, default=6, metavar="N", help="tries of one call (default 6)")
    group.add_argument("--timeout", type=float, default=600.0, metavar="S", help="seconds for one reply (default 600)")
    group.add_argument("--max-cost", type=float, metavar="USD")
    group.add_argument("--max-tokens", type=int, metavar="N", help="input and output together, in this session")
    group.add_argument("--max-time", type=float, metavar="S")


def _output_flags(group: argparse._ArgumentGroup) -> None:
    _store_flag(group)
    loudness = group.add_mutually_exclusive_group()
    loudness.add_argument("--quiet", action="store_true", help="print the result only")
    loudness.add_argument("--json", action="store_true", help="print the result as JSON")
    group.add_argument("--report", default="", metavar="FILE.html", help="also write the result as one page")


def _store_flag(parser: argparse.ArgumentParser | argparse._ArgumentGroup) -> None:
    parser.add_argument(
        "--store", default="", metavar="PATH", help="default: MEASURAND_STORE or .measurand/measurand.db"
    )


def _score_parser(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", help="a run, as `measurand ls` names it")
    parser.add_argument("--by", metavar="NAME", help="by the scoring of this variant, beside what was scored before")
    parser.add_argument("--errata", metavar="FILE", help="by corrected golds: a table with columns id and corrected")
    _output_flags(parser.add_argument_group("output"))


def _ls_parser(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", nargs="?", default="runs", choices=("runs", "benchmarks"))
    parser.add_argument("--json", action="store_true")
    _store_flag(parser)


def _show_parser(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run")
    parser.add_argument("item", nargs="?", default="", help="default: the one asked first, with its tokens if known")
    parser.add_argument("sample", nargs="?", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    _store_flag(parser)


def _report_parser(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("runs", nargs="*", metavar="RUN", help="default: the latest run")
    parser.add_argument("-o", "--output", default="", metavar="FILE", help="write a page (.html), text (.md) or .json")
    parser.add_argument("--plots", default="", metavar="DIR", help="of a study: write every plot as SVG and PNG")
    parser.add_argument("--model-card", default="", metavar="SUBJECT", help="of a study: what a model card may say")
    parser.add_argument("--json", action="store_true")
    _store_flag(parser)


def _compare_parser(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("a", metavar="RUN", help="a run, as `measurand ls` names it")
    parser.add_argument("b", metavar="RUN")
    parser.add_argument(
        "--accept", action="append", default=[], metavar="NAME", help="a difference to accept: asking.text, or asking"
    )
    parser.add_argument("--slice", action="append", default=[], metavar="FIELD", help="also by this field, or A*B")
    parser.add_argument(
        "--varies", default="", metavar="NAME", help="an ablation: the training variable that differs, data"
    )
    parser.add_argument(
        "--held-equal", default="", metavar="A,B", help="what is equal in both: base,compute,hyperparameters"
    )
    parser.add_argument("--report", default="", metavar="FILE.html", help="also write the comparison as one page")
    parser.add_argument("--json", action="store_true")
    _store_flag(parser)


def _watch_parser(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", metavar="DIR", help="where the trainer writes its checkpoints")
    parser.add_argument("--suite", required=True, metavar="SUITE.toml", help="what each checkpoint is asked")
    parser.add_argument("--once", action="store_true", help="look once and end, as CI does")
    parser.add_argument("--every", type=float, default=60.0, metavar="S", help="seconds between looks (default 60)")
    parser.add_argument(
        "--patience", type=float, default=86_400.0, metavar="S", help="end when none came for so long (default a day)"
    )
    parser.add_argument("--log", default="", metavar="FILE", help="the training log, JSONL or CSV")
    parser.add_argument("--log-columns", default="step,loss", metavar="STEP,LOSS", help="its two columns")
    parser.add_argument("--since", type=int, metavar="STEP", help="alerts before this step are shown but do not fail")
    parser.add_argument("--data", action="append", default=[], metavar="NAME=PATH", help="a local copy of a data set")
    _subject_flags(parser.add_argument_group("the subject"))
    _limit_flags(parser.add_argument_group("limits of each evaluation"))
    _output_flags(parser.add_argument_group("output"))


def _gate_parser(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", nargs="?", default="", metavar="RUN", help="default: the latest run")
    parser.add_argument("--baseline", default="", metavar="FILE", help="the scores to hold it against")
    parser.add_argument("--write", default="", metavar="FILE", help="write this run's scores as a baseline")
    parser.add_argument("--rule", action="append", default=[], metavar="TEXT", help="as in 'accuracy >= 0.80'")
    parser.add_argument(
        "--margin", type=float, default=2.0, metavar="POINTS", help="the loss that is borne (default 2)"
    )
    parser.add_argument(
        "--false-alarm",
        type=float,
        default=2.5,
        metavar="PERCENT",
        help="changes within the margin that may fail (default 2.5)",
    )
    parser.add_argument(
        "--flakes",
        type=float,
        default=2.0,
        metavar="PERCENT",
        help="items without a firm score that are borne (default 2)",
    )
    parser.add_argument(
        "--accept", action="append", default=[], metavar="NAME", help="a difference of protocol to accept"
    )
    parser.add_argument("--junit", default="", metavar="FILE.xml")
    parser.add_argument("--markdown", default="", metavar="FILE.md")
    parser.add_argument("--json", action="store_true")
    _store_flag(parser)


def _decisions_parser(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", nargs="?", default="list", choices=("list", "show", "sign"))
    parser.add_argument("name", nargs="?", default="", metavar="NAME", help="sign: a study.toml; show: a decision's id")
    parser.add_argument("--by", default="", metavar="NAME", help="who signs")
    parser.add_argument("--date", default="", metavar="DAY", help="as 2026-01-31 (default today)")
    parser.add_argument("--supersedes", default="", metavar="ID", help="the decision that this one replaces")
    parser.add_argument("--json", action="store_true")
    _store_flag(parser)


def _leaderboard_parser(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE.csv", help="columns board, model, score; n, date, code, protocol, family")
    parser.add_argument("--json", action="store_true")


def _signals_parser(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="JSONL or CSV with one line for each reply that was shown")
    for name in ("action", "accepted", "user", "cohort", "subject", "shown", "kept"):
        parser.add_argument(f"--{name}", default="", metavar="COLUMN")
    parser.add_argument("--json", action="store_true")


def _export_parser(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run")
    parser.add_argument("-o", "--output", required=True, metavar="FILE", help=".jsonl, .csv, .xlsx or .parquet")
    _store_flag(parser)


def _check_parser(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", help="a benchmark, or a file that defines one")
    parser.add_argument("--data", action="append", default=[], metavar="NAME=PATH", help="a local copy of a data set")


def _verify_parser(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "folder", metavar="FOLDER", help="a folder of stored outputs, one folder in it for each benchmark"
    )
    parser.add_argument(
        "--only", action="append", default=[], metavar="NAME", help="this benchmark alone; may be repeated"
    )
    parser.add_argument("--run-code", action="store_true", help="also run stored programs, in a sandbox")
    parser.add_argument("--prompts", action="store_true", help="compare prompts with those of peers instead")
    parser.add_argument(
        "--peer",
        default="",
        metavar="PYTHON",
        help="for --prompts: an interpreter that has lm-eval, inspect-evals or crfm-helm",
    )
    parser.add_argument("--json", action="store_true", help="print each line as JSON")
    parser.add_argument("--markdown", default="", metavar="FILE.md", help="also write the table as a page")
