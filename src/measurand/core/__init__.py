"""Frozen records, identities, errors and ports. No I/O."""
