"""Content: whose stored outputs are scored again, and to which figures. One file for each benchmark, found by name."""
