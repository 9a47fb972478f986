"""`forklift generate`: free text about pictures."""

from __future__ import annotations

import codecs
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from forklift.cli import output
from forklift.cli.console import reported_errors, say
from forklift.cli.extract import DTypeName
from forklift.cli.interrupt import run_interruptible
from forklift.results import Outcome

if TYPE_CHECKING:
    from forklift.engines.base import Sampling


def generate(
    prompt: Annotated[str, typer.Option("--prompt", "-p", help="What to ask.", show_default=False)],
    image: Annotated[
        list[Path] | None,
        typer.Option("--image", "-i", metavar="FILE", help="A picture or PDF; give it again for more."),
    ] = None,
    model: Annotated[str, typer.Option("--model", "-m", help="nano, or a checkpoint's folder.")] = "nano",
    max_tokens: Annotated[int, typer.Option(min=1, help="Where the answer is cut.")] = 512,
    dtype: Annotated[DTypeName | None, typer.Option(help="Type of unquantised weights.")] = None,
    temperature: Annotated[float, typer.Option(min=0.0, help="0 always takes the likeliest token.")] = 0.0,
    top_p: Annotated[float, typer.Option(min=0.0, max=1.0, help="With a temperature: nucleus size.")] = 1.0,
    seed: Annotated[int, typer.Option(help="With a temperature: of the random generator.")] = 0,
) -> None:
    """Ask a model in free text; print the answer as it comes.

    Pictures keep their own pixels, PDF pages are drawn as the model wants them.
    """
    with reported_errors():
        from forklift.engines.base import Sampling

        sampling = Sampling(temperature, top_p, seed)
        outcome = run_interruptible(
            lambda cancel: _generate(prompt, image or [], model, dtype, max_tokens, sampling, cancel),
            clean_up=lambda: None,
        )
    if outcome is Outcome.TRUNCATED:
        say(f"the answer was cut after {max_tokens} tokens; give more with --max-tokens.")


def _generate(
    prompt: str,
    images: list[Path],
    model: str,
    dtype: str | None,
    max_tokens: int,
    sampling: Sampling,
    cancel: threading.Event,
) -> Outcome | None:
    from contextlib import ExitStack

    from forklift.documents import Document
    from forklift.engines.base import Request
    from forklift.extract import load

    with ExitStack() as opened:
        documents = [opened.enter_context(Document.open(path)) for path in images]
        extractor = opened.enter_context(load(model, dtype=dtype))
        pages = [
            page.render(extractor.page_policy if document.kind == "PDF" else None)
            for document in documents
            for page in document
        ]
        request = Request(pages, prompt, sampling=sampling, max_new_tokens=max_tokens, cancel=cancel)
        outcome = None
        # A model may write bytes that are no UTF-8, and a token may end inside a character.
        text = codecs.getincrementaldecoder("utf-8")(errors="replace")
        for token in extractor.engine.generate(request):
            output.write_stdout(text.decode(token.text).encode())
            outcome = token.outcome
        output.write_stdout((text.decode(b"", final=True) + "\n").encode())
    return outcome
