"""Piper voices (VITS) in own torch code, filled from a voice's published ONNX file.

`model.py` is the door (`card`, `load`); everything that imports torch is named `vits_*.py` or `program.py`.
"""
