"""The application: every router, errors in one form, nothing of the framework's own pages."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI

from cli.api import (
    batches,
    errors,
    files,
    health,
    job_audio,
    job_events,
    job_files,
    jobs,
    limits,
    models,
    page,
    plans,
    session,
    speech,
    voices,
    workers,
)
from cli.api.pump import Pump
from cli.api.service import Service

ROUTERS = (
    jobs.router,
    plans.router,
    job_events.router,
    job_audio.router,
    job_files.router,
    speech.router,
    models.router,
    voices.router,
    files.router,
    batches.router,
    workers.router,
    session.router,
    health.router,
    page.router,
)


def make_app(service: Service) -> FastAPI:
    """The ASGI application over one service."""

    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        app.state.pump = Pump(service.limits.streams)
        try:
            with service.running():
                yield
        finally:
            app.state.pump.close()

    app = FastAPI(title="tts-batch", lifespan=life, docs_url=None, redoc_url=None, responses=errors.ON_EVERY_ROUTE)
    app.state.service = service
    errors.add_to(app)
    limits.add_to(app, service)
    for router in ROUTERS:
        app.include_router(router)
    return app
