"""Curves of a training run, shown: as a page, as plots, and in the terminal."""
