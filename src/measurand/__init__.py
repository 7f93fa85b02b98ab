"""Measurand: evaluate language models, and decide on what was measured."""
