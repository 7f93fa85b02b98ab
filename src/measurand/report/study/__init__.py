"""How a study is shown: its findings as a page, in the terminal, as text, and as plots. Computes nothing."""
