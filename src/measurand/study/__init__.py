"""Studies: many subjects by many benchmarks and private sets, from one TOML file."""
