"""Constraints of IFBench that a text alone decides (Pyatkin et al. 2025), without parsers of grammar and syllables.

Where the published check passes a text that has nothing to check, or hangs on punctuation, this one does not.
"""
