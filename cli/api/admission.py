"""What work must pass before a server takes it on: somebody there who speaks its model, room in the queue."""

from __future__ import annotations

from cli.api.errors import ApiError
from cli.api.service import Service
from cli.api.wording import for_http
from jobs.admission import check_room
from jobs.errors import BadOption, QueueFull
from jobs.spec import ModelOffer

RETRY_AFTER_S = 5
"""What a caller is told to wait for a worker, or for the queue."""


def check_queue(service: Service) -> None:
    """Raise ApiError 503 where so much waits already that nothing more is taken on."""
    try:
        check_room(service.broker, max_waiting=service.limits.waiting_segments)
    except QueueFull as error:
        headers = {"Retry-After": str(RETRY_AFTER_S)}
        raise ApiError(503, for_http(str(error)), code="queue_full", headers=headers) from error


def offer_of(service: Service, model: str) -> ModelOffer:
    """The offer of a model by its name or an alias. Raises ApiError 404 (no such model) or 503 (no worker at all)."""
    try:
        return service.offer(model)
    except BadOption as error:
        if not service.offers():
            msg = "no worker is up at present, so nothing can be spoken; try again in a moment"
            raise ApiError(503, msg, code="no_worker", headers={"Retry-After": str(RETRY_AFTER_S)}) from error
        raise ApiError(404, for_http(str(error)), code="model_not_found", param="model") from error
