"""Errors of the engine.

EngineError
├── SlotsFull          add() was called while no slot was free
├── DuplicateRequest   add() was given an id the engine holds already
├── UnknownRequest     cancel() named a request the engine does not hold
├── DeviceUnavailable  the device asked for is not there
└── ProgramFault       the program broke its contract (shape, dtype, non-finite audio)
"""


class EngineError(Exception):
    """Base of every error the engine raises."""


class SlotsFull(EngineError):
    """add() was called while no slot was free."""


class DuplicateRequest(EngineError):
    """add() was given a request id the engine holds already."""


class UnknownRequest(EngineError):
    """A request id was named that the engine does not hold."""


class DeviceUnavailable(EngineError):
    """The device asked for is not on this machine."""


class ProgramFault(EngineError):
    """A program returned something its contract forbids."""
