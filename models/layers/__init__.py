"""Layers that several token models share: the Llama decoder, its rotary positions, its checkpoints."""
