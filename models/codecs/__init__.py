"""Codecs that models share: frames of codes to samples. They know windows and weights, no model, prompt or request."""
