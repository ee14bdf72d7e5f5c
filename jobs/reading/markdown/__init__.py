"""Markdown: the parser's tokens with the place of every character they stand for."""
