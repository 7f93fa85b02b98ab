"""Theme ifeval: does a reply follow an instruction?"""

from __future__ import annotations

from typing import Any

from measurand.core.errors import InputError
from measurand.scoring.ifeval.scorers import verdicts


def ifeval(case: dict[str, Any]) -> dict[str, Any]:
    mode: Any = "loose" if case.get("loose") or case.get("mode") == "loose" else "strict"
    kinds = case.get("instruction_id_list", [case.get("instruction_id")])
    given = case.get(
        "kwargs_list", case["kwargs"] if isinstance(case.get("kwargs"), list) else [case.get("kwargs") or {}]
    )
    constraints = list(zip(kinds, given, strict=True))
    try:
        found = {verdicts(case["response"] or "", constraints, mode) for _ in range(case.get("runs", 1))}
    except InputError as error:
        return {"error": str(error).partition(":")[0], "no_exception": False}
    (followed,) = found if len(found) == 1 else [(False,)]
    return {
        "followed": all(followed),
        "followed_list": list(followed),
        "same_verdict_every_run": len(found) == 1,
        "no_exception": True,
    }
