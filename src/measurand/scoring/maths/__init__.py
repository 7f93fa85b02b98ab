"""Mathematical answers: reading them from a solution, and whether two of them are equal, by several signals."""
