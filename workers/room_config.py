"""What node, supervisor and synthesis processes tell each other: a configuration, and what an exit status means."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from workers.engines import EngineSettings

EXIT_FENCED = 75
"""Exit status of a process that found itself declared dead (`EX_TEMPFAIL`): its supervisor starts a new one."""
EXIT_BROKEN_THREAD = 70
"""Exit status after an unforeseen error in one of the threads (`EX_SOFTWARE`)."""
EXIT_LOST_DEVICE = 71
"""Exit status when the device can run nothing more (`EX_OSERR`)."""
EXIT_NOTHING_TO_RUN = 69
"""Exit status of a supervisor that can run nothing (`EX_UNAVAILABLE`): starting it again changes nothing."""


@dataclass(frozen=True, slots=True)
class RoomConfig:
    """What a supervisor tells its process. `models` are registry names, `engine` how each of their engines is run."""

    worker: str
    device: str
    precision: str
    models: tuple[str, ...]
    engine: EngineSettings

    def dump(self) -> str:
        """One JSON line for the command line."""
        return json.dumps(asdict(self))

    @classmethod
    def parse(cls, text: str) -> RoomConfig:
        """What `dump` wrote."""
        fields = json.loads(text)
        engine = EngineSettings(**fields["engine"])
        return cls(**{**fields, "models": tuple(fields["models"]), "engine": engine})
