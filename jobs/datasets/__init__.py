"""Datasets of speech: one manifest of a finished job, laid out for the tools that train with it.

manifest (what a job spoke, one row an utterance) → selecting (what is let in) → layouts (one file each: names and index
lines) → export (audio, ledger, indexes: resumable and append-safe) → info (dataset.json and the card).
Knows takes, plans and stores; knows no queue and no trainer. The forms are in docs/datasets.md.
"""
