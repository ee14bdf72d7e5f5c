"""A week of bad weather in an hour: `python -m tests.fault.soak --minutes 60 --seed 1` (docs/soak.md)."""
