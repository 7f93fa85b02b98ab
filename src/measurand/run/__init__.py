"""Plan, engine and doors: the only room that carries questions and answers through ports."""
