"""The words of the decision page that a newcomer may not know, each in one or two plain sentences."""

from __future__ import annotations

WORDS = {
    "rule": (
        "A condition for the decision, as the study states it. It passes, fails, or is undecided: what was "
        "measured so far allows both."
    ),
    "interval": (
        "The range in which the true number lies, as far as the luck of which items were asked goes. At 95 %, one "
        "such range in twenty misses it."
    ),
    "difference": (
        "One subject's number minus another's. Where its interval holds zero, the two cannot be told apart."
    ),
    "paired": "Compared on the same items, so that hard and easy items cancel out.",
    "margin": (
        "How far a subject may fall below another and still count as not worse, as a rule of the study states it."
    ),
    "p-value": (
        "The chance of a difference at least this large if there were none. Adjusted: it may be read as if the "
        "comparison had been the only one, however many were made at once."
    ),
    "smallest detectable difference": (
        "The smallest true difference that a comparison of this size finds four times in five. Smaller ones may "
        "be there and stay unseen."
    ),
    "tie group": "Subjects that cannot be told apart by what was measured. A subject may belong to two groups.",
    "slice": "A named part of the items, such as one language.",
    "coverage matrix": "What was measured, and for every empty cell why it is empty.",
    "dominated": "Another subject is no worse in quality, cost and latency, and better in one of them, beyond chance.",
    "calibration": (
        "Whether a subject is right as often as it is sure: of the answers given with 80 % confidence, 80 % "
        "should be right."
    ),
    "threat": (
        "A reason why a number may not mean what it seems to, with the evidence for it and what would remove it."
    ),
    "protocol": (
        "Which items were asked, how they were asked, how answers were scored, and how scores became the number. "
        "Its short hash stands beside every number; numbers with different hashes were not measured in the same "
        "way."
    ),
    "missing": "Planned and without a score. It is never counted as wrong in silence.",
    "run": "One subject's answers to one scenario.",
    "scenario": (
        "A set of items with the way in which they are asked and scored: a benchmark, or a file of one's own."
    ),
}
"""In the order in which the page uses them. `docs/glossary.md` says the same at more length."""
