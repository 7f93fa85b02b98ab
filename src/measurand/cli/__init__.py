"""The command line. Thin: it parses, calls wiring, and prints."""
