"""Errors of the models.

ModelError
├── UnknownModel    no registry row of that name
├── UnknownVoice    the model has no voice of that name
├── MissingExtra    an optional package or a model's weights are not installed; carries the install line
├── BadWeights      a weight file is damaged, of another layout, or not the one expected
└── BadPrompt       this text cannot be spoken by this model (empty after normalising, symbols it cannot take)
"""


class ModelError(Exception):
    """Base of every error a model raises before the engine runs it."""


class UnknownModel(ModelError):
    """No registry row has that name."""


class UnknownVoice(ModelError):
    """The model has no voice of that name."""


class MissingExtra(ModelError):
    """An optional package, or a model's weights, are missing; the text carries the install line."""


class BadWeights(ModelError):
    """A weight file is damaged, of another layout, or not the file its hash promises."""


class BadPrompt(ModelError):
    """The text of one segment cannot be spoken by this model."""
