"""`forklift serve`: the OpenAI-compatible server."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

import typer

from forklift.cli.console import reported_errors, say
from forklift.cli.extract import DTypeName

if TYPE_CHECKING:
    from forklift.serving.settings import ServerSettings

API_KEY_VARIABLE = "FORKLIFT_API_KEY"


def serve(
    model: Annotated[str, typer.Option("--model", "-m", help="nano, or a checkpoint's folder.")] = "nano",
    host: Annotated[str, typer.Option(help="Address to listen on; 0.0.0.0 for every network.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0 for any free one.")] = 8080,
    model_name: Annotated[
        str | None, typer.Option(metavar="NAME", help="What clients call the model; by default its own name.")
    ] = None,
    api_key: Annotated[
        str | None,
        typer.Option(metavar="KEY", help=f"What clients must send; better in {API_KEY_VARIABLE}."),
    ] = None,
    concurrency: Annotated[int, typer.Option(min=1, help="Requests that are worked on at once.")] = 8,
    queue: Annotated[int, typer.Option(min=0, help="Requests that may wait; more are refused with 429.")] = 64,
    timeout: Annotated[float, typer.Option(min=0.001, help="Seconds that a request may take, waiting included.")] = 600,
    max_tokens: Annotated[int, typer.Option(min=1, help="Where an answer is cut if its request does not say.")] = 8192,
    max_pages: Annotated[int, typer.Option(min=1, help="Pages that a request may hold.")] = 100,
    max_file_size: Annotated[
        str, typer.Option(metavar="SIZE", help="Size that the files of a request may have, together.")
    ] = "64MiB",
    max_pixels: Annotated[int, typer.Option(min=1, help="Width x height that a picture may have.")] = 50_000_000,
    allow_url: Annotated[
        list[str] | None,
        typer.Option(metavar="HOST", help="Host that files may be fetched from; give it again for more."),
    ] = None,
    dtype: Annotated[DTypeName | None, typer.Option(help="Type of unquantised weights.")] = None,
) -> None:
    """Serve a model to OpenAI clients.

    Ctrl-C or SIGTERM ends it: requests that run are finished, new ones refused.
    """
    with reported_errors():
        from forklift.cli.extract import size_in_bytes
        from forklift.errors import UsageError
        from forklift.page_policy import Limits

        try:
            from forklift.serving.scheduler import Capacity
            from forklift.serving.server import listen
            from forklift.serving.settings import ServerSettings, body_bytes
        except ImportError as error:
            raise UsageError(f"{error}; `pip install 'forklift[serve]'` brings what the server needs") from None

        file_bytes = size_in_bytes(max_file_size)
        settings = ServerSettings(
            model_name=model_name or os.path.basename(os.path.abspath(model)),
            api_key=api_key or os.environ.get(API_KEY_VARIABLE) or None,
            capacity=Capacity(concurrency, queue, timeout),
            limits=Limits(max_file_bytes=file_bytes, max_pages=max_pages, max_picture_pixels=max_pixels),
            max_body_bytes=body_bytes(file_bytes),
            allowed_hosts=frozenset(name.lower() for name in allow_url or ()),
            max_new_tokens=max_tokens,
        )
        try:
            listener = listen(host, port)
        except OSError as error:
            raise UsageError(f"cannot listen on {host}, port {port}: {error.strerror or error}") from None
        with listener:
            _serve(settings, model, dtype, listener)


def _serve(settings: ServerSettings, model: str, dtype: str | None, listener: object) -> None:
    import socket

    from forklift.extract import load
    from forklift.serving.server import configure_logging
    from forklift.serving.server import serve as run
    from forklift.serving.service import Service

    assert isinstance(listener, socket.socket)
    configure_logging()
    with load(model, dtype=dtype) as extractor:
        host, port = listener.getsockname()[:2]
        say(f"{settings.model_name} at http://{f'[{host}]' if ':' in host else host}:{port}/v1")
        run(Service(extractor, settings), listener)
