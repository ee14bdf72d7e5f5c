"""Orpheus (canopylabs): a Llama decoder that speaks SNAC codes. Prompt, grammar, weights, card."""
