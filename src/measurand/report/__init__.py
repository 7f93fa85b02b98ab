"""Summaries made readable: terminal, page, notebook, Markdown, JSON and files. Computes nothing."""
