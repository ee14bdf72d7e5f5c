"""Errors of the engine.

EngineError
├── SlotsFull          add() was called while no slot was free
├── DuplicateRequest   add() was given an id the engine holds already
├── UnknownRequest     cancel() named a request the engine does not hold
├── DeviceUnavailable  the device asked for is not there
└── ProgramFault       the program broke its contract (shape, dtype, non-finite audio)

A device that is lost raises torch's own error, which `is_lost_device` knows.
"""

LOST_DEVICE = "AcceleratorError"
"""Name of torch's RuntimeError for a device that can run nothing more; it ends the process, not the request."""


def is_lost_device(error: BaseException) -> bool:
    """Whether an error says that the device can run nothing more: only a new process can use it again."""
    return type(error).__name__ == LOST_DEVICE


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
