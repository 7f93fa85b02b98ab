"""IFEval: instructions that a program can check (Zhou et al. 2023). One file for each family of constraints."""
