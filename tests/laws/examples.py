"""One example of every record, with its fields away from their defaults where that matters."""

from measurand.core import (
    benchmark,
    call,
    claim,
    decision,
    estimate,
    fidelity,
    findings,
    item,
    looks,
    message,
    outcome,
    ports,
    program,
    protocol,
    request,
    run,
    source,
    subject,
    summary,
    tokens,
    trial,
    workspace,
)

MODEL = subject.Model("openai", "m-1", revision="2026-01", endpoint="http://localhost:8000/v1")
SAYS = message.Message("user", (message.Text("how much?"), message.Image("image/png", "aGk=")))
DECODE = request.Decode(temperature=0.7, top_p=0.9, max_tokens=5, stop=("\n",), seed=1, top_logprobs=2, effort="low")
GENERATE = request.Generate((SAYS,), (message.Tool("f", "d", {"type": "object"}),), {"type": "object"}, DECODE)
REPLY = call.Reply(
    (message.Text("42"), message.ToolCall("1", "f", "{}")),
    "tool_calls",
    "so",
    (call.TokenLogprob("4", -0.5, {"4": -0.5}),),
    (-1.0,),
    ((0.5, 0.25),),
    call.Usage(1, 2, 0, 1),
    call.Timings(0.5, 0.1),
    "m-1-x",
    "2026-01-01T00:00:00Z",
)
LIMITS = program.Limits(1.0, 2.0, 3, 4, 5, 6)
SCRIPT = program.Script("print(1)", "in", LIMITS)
RESULT = program.Result("finished", 0, "1\n", "", "", 0.1, 0.2)
TEST = program.FunctionTest("def f(): return 1", "f", "def check(c): assert c() == 1", "", LIMITS)
ANSWER = outcome.Answer("42", (-1.0,), "so", {"a": "b"})
TASK = protocol.TaskPart(
    "t",
    1,
    {"test": protocol.SourceUsed({"type": "file"}, "aa", True)},
    "test",
    3,
    "bb",
    benchmark.Subset(2, 1, "x"),
    "p",
)
ASKING = protocol.AskingPart("a", 1, "Q: {{q}}", ("chat",), 2, {"k": 5}, "cc", DECODE, "dd", 9)
MARKING = protocol.MarkingPart("accuracy", "number@1", "numeric@1")
SCORING = protocol.ScoringPart((MARKING,), True, False, ("think",))
AGGREGATION = protocol.AggregationPart({"accuracy": "accuracy@1"}, ("subject",), ("category",), 0.95)
PROTOCOL = protocol.Protocol("t", TASK, ASKING, SCORING, AGGREGATION)
FACTS = subject.Facts("2026-01-01", "open", "2025-01", subject.Price(1.0, 2.0, 0.5), "MIT")
CONDITIONS = run.Conditions("0.1.0", "3.11", "Linux", "namespaces", ("m",), ("test",), ("e",))
RUN = run.Run("t", "ee", MODEL, "ff", 3, 2, "again", claim.AboutModel(), FACTS, CONDITIONS)
ESTIMATE = estimate.Estimate("accuracy", 0.5, 0.4, 0.6, 0.95, "wilson", 10, 10, 1, 3, (0.45, 0.55), "share")
TALLY = estimate.Tally(10, 4, 1, 1, 1, 2, 1, {"failed: timeout": 2})
VIEW = summary.View("slice:kind", ESTIMATE, "emi")
ITEM = item.Item(
    "1", item.Question("q?", ("a", "b")), {"x": 1}, {"kind": "emi"}, "c", "hi", {"f": "h"}, item.Row("s", 0, "real")
)

EXAMPLES = (
    MODEL,
    SAYS,
    DECODE,
    GENERATE,
    REPLY,
    LIMITS,
    SCRIPT,
    RESULT,
    TEST,
    ANSWER,
    TASK,
    ASKING,
    MARKING,
    SCORING,
    AGGREGATION,
    PROTOCOL,
    FACTS,
    CONDITIONS,
    RUN,
    ESTIMATE,
    TALLY,
    VIEW,
    ITEM,
    TASK.sources["test"],
    TASK.subset or benchmark.Subset(1),
    protocol.Difference("task.version", 1, 2),
    benchmark.Card("T", "m", ("b",), "quiz", "src", "p", "MIT", ("en",), "2020-01-01", 0.25, 0.9, 0.95, ("e",)),
    message.Text("t"),
    message.Image("image/png", "aGk="),
    message.ToolCall("1", "f", "{}"),
    message.ToolResult("1", "ok", True),
    message.Tool("f", "d", {}),
    item.Question("q"),
    item.Conversation((SAYS,)),
    item.Document("d"),
    item.Environment("t", {"a": 1}),
    item.Row("s", 1),
    item.Perturbed("1", "typos"),
    item.Judged(("t1", "t2"), "pair"),
    item.Imported("log"),
    subject.Person("p1", "nurse", "2"),
    subject.System("s", "1", (MODEL, "rag"), "http://x"),
    subject.Panel((MODEL, subject.Person("p1", "nurse")), 2, "majority"),
    subject.Price(1.0, 2.0, 0.5),
    claim.AboutModel(),
    claim.AboutSystem(),
    claim.AboutMethod("data", ("steps",), "base", 3),
    request.Complete("p", DECODE),
    request.Loglikelihood("c", (" A", " B")),
    request.Rolling("a text", 1024, 512),
    tokens.Joined((1, 2, 3), 2, 4),
    request.Embed(("a",)),
    request.Draw(1, 2, "again", "item"),
    call.Usage(1, 2),
    call.Timings(1.0, 0.5),
    call.TokenLogprob("a", -1.0, {"a": -1.0}),
    call.Asked(GENERATE, REPLY),
    call.Ran(SCRIPT, RESULT),
    call.Call("t", 0, "target", "s", "k", call.Asked(GENERATE, REPLY)),
    outcome.Answered(ANSWER),
    outcome.Truncated("tokens", ANSWER),
    outcome.Refused(ANSWER),
    outcome.Blocked("filter"),
    outcome.Failed("timeout", "no reply", 3),
    outcome.NotRun("waiting", "annotators", "2026-02-01"),
    trial.Trial("r", "1", 0, outcome.Answered(ANSWER), "m", 0.1, "2026-01-01T00:00:00Z", 1.5),
    trial.Found(42, (0, 2)),
    trial.Absent("empty"),
    trial.Ambiguous(("A", "B")),
    trial.Reading("t", "number@1", trial.Found(42), 3),
    trial.Missing("needs_judge", "d"),
    trial.Measured((1.0, 2.0)),
    trial.Score(("t",), "accuracy", trial.Measured((1.0,)), "exact@1"),
    source.Hub("o/n", "a" * 40, ("*.parquet",), True),
    source.File("p.csv", "csv"),
    source.Package("p", "r", "p"),
    source.Inline("n", "d"),
    run.Slot(1, 2, "m"),
    run.Shard(0, (run.Slot(1, 2),)),
    run.Plan(RUN, 6, 1, 5, 2, 100, 50, 0.1, 0.2, 0.1, ("n",)),
    estimate.Comparison("a", "b", True, ESTIMATE, 0.04, 0.08, 0.1, ("asking.version",), "McNemar"),
    looks.Look(50, 45, 0.7, 0.95, "pass", "2026-01-01"),
    looks.Looks(0.7, 0.9, (looks.Look(1, 1, 0.1, 1.0, "undecided"),)),
    decision.Rule("r", "pass", "b"),
    decision.Threat("n", "e", "r"),
    decision.Decision("q", claim.AboutModel(), (decision.Rule("r", "fail", "b"),), ("h",), (), ("w",)),
    decision.Gate("b", "s", "r", "p", (decision.Rule("r", "fail", "b"),), "a", 0.02, 0.05),
    decision.Signature("d", "a person", "2026-01-01", "c"),
    decision.Signed(
        decision.Decision("q", claim.AboutModel(), (), (), (), ()), decision.Signature("d", "a person", "2026-01-01")
    ),
    findings.Cell("s", "b", "accuracy", None, 0.5, "aa", "too_few", "3 items"),
    findings.Contrast("b", "accuracy", "x", "y", "slice:kind", "emi", None, "two protocols"),
    findings.Ranking("b", "accuracy", (("x", "y"), ("z",))),
    findings.Tradeoff("s", "b", ESTIMATE, None, ESTIMATE, ("x",)),
    findings.Bin(0.5, ESTIMATE),
    findings.Calibration("s", "b", (findings.Bin(0.5, ESTIMATE),), (ESTIMATE,)),
    findings.Findings("n", ("s",), decision.Decision("q", claim.AboutModel(), (), (), (), ()), (), simulated=("s",)),
    ports.Abilities(("chat",), "next_token", True, 4, True),
    ports.Isolation("namespaces", "bubblewrap", "d"),
    ports.Rows([{"a": 1}], "h", "p"),
    ports.CallMade("target", b"k", call.Ran(SCRIPT, RESULT)),
    ports.Session(1, 2),
    workspace.WorkspaceLimits(1, 2, 3, 4, 5, 6),
    workspace.CommandResult(None, "o", "e", True, "SIGKILL", True, 1.5),
    workspace.Entry("a", "file", 1),
    summary.ReadingCount("number@1", 1, 2, 3),
    summary.Example("1", 0, "wrong", "q", "a", "r", "g", "answered"),
    summary.Spent(1, 2, "2026", 3, 4, 0.1, 2.0),
    summary.Summary(RUN, PROTOCOL, TALLY, (VIEW,), made={"real": 1}, notes=("n",)),
    fidelity.Figure("w", 1, 2, 0.5, "c", 2),
    fidelity.Check("b", "w", "s", 1, 2, "explained", "c", 0.5),
)
