"""Content: one file for each benchmark family, found by file name, loaded when asked for."""
