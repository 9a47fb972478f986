"""uvicorn around the application: signals, and an end that lets running requests finish."""

from __future__ import annotations

import logging
import signal
import socket
from types import FrameType

import uvicorn

from forklift.serving.api import create_app
from forklift.serving.service import Service


class Server(uvicorn.Server):
    """The first SIGTERM or SIGINT stops taking requests and waits for those that run; a second SIGINT does not wait."""

    def __init__(self, service: Service, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._service = service

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self._service.scheduler.drain()
        super().handle_exit(sig, frame)


def listen(host: str, port: int) -> socket.socket:
    """A bound socket, so that a port that is taken is known before a model is loaded. Raises OSError."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
    except BaseException:
        listener.close()
        raise
    return listener


def make_server(service: Service) -> Server:
    config = uvicorn.Config(
        create_app(service),
        log_config=None,
        access_log=False,  # the gate writes a line a request, which says less
        server_header=False,
        timeout_graceful_shutdown=max(1, round(service.settings.capacity.deadline_seconds)),
    )
    return Server(service, config)


def serve(service: Service, listener: socket.socket) -> None:
    """Serve until a signal. From the main thread."""
    # uvicorn raises the signal once more when it has ended, which would make a clean end look like a kill.
    previous = [(number, signal.signal(number, lambda *_: None)) for number in (signal.SIGTERM, signal.SIGINT)]
    try:
        make_server(service).run(sockets=[listener])
    finally:
        for number, handler in previous:
            signal.signal(number, handler)


def configure_logging() -> None:
    """One line a request and a generation on stderr, key=value, without content."""
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s %(message)s"))
    for name in ("forklift.serving", "uvicorn"):
        logger = logging.getLogger(name)
        logger.handlers[:] = [handler]
        logger.setLevel(logging.INFO)
        logger.propagate = False
