"""POST /v1/chat/completions: from the parsed request to the last byte of the answer."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from forklift.serving.answers import Completion
from forklift.serving.failures import ClientGone, described
from forklift.serving.generations import Connection, Generation
from forklift.serving.openai_types import ChatRequest
from forklift.serving.questions import Question
from forklift.serving.service import Service, log

if TYPE_CHECKING:
    from forklift.serving.stepping import Run


class ChatResponse(Response):
    """Answers while it is sent: a failure before the first byte is an HTTP status, after it an event of the stream.

    It watches the connection itself, so that a client that hangs up ends its generation within one pass.
    """

    def __init__(self, service: Service, asked: ChatRequest) -> None:
        super().__init__()
        self._service = service
        self._asked = asked
        self._started = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            async with Connection(receive) as connection:
                await self._answer(connection, scope, receive, send)
        except ClientGone:
            self.status_code = 499
        except Exception as error:
            status, headers, body = described(error)
            if status == 500:
                log.exception("a chat completion failed")
            if not self._started:
                await JSONResponse(body, status, headers)(scope, receive, send)
            else:
                await _send_event(send, body)
                await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _answer(self, connection: Connection, scope: Scope, receive: Receive, send: Send) -> None:
        service, asked = self._service, self._asked
        question = await connection.unless_gone(service.in_thread(lambda: Question.of(asked, service.settings)))
        completion = Completion(service.settings.model_name, question.stops, with_probabilities=bool(asked.logprobs))
        generation = Generation(service.scheduler, connection)
        outcome, pages = "failed", 0
        try:
            await generation.granted()
            run, pages = await connection.unless_gone(
                service.in_thread(lambda: self._prepare(question, completion, connection))
            )
            generation.ticket.run(run, generation.hear)
            parts = self._parts(generation, completion)
            if asked.stream:
                await self._stream(parts, completion, send)
            else:
                text, probabilities = "", []
                async with aclosing(parts):
                    async for piece, shown in parts:
                        text += piece
                        probabilities += shown or []
                await JSONResponse(completion.whole(text, probabilities))(scope, receive, send)
            outcome = completion.finish_reason
        except ClientGone:
            outcome = "cancelled"
            raise
        finally:
            generation.release()
            service.count(
                generation.ticket,
                completion.statistics,
                outcome,
                answer_tokens=completion.answer_tokens,
                forced=completion.forced_tokens,
                pages=pages,
            )

    def _prepare(self, question: Question, completion: Completion, connection: Connection) -> tuple[Run, int]:
        """In a thread: draw the pages and start the generation."""
        service = self._service
        request = question.request(service.extractor.page_policy, service.settings, lambda: connection.is_gone)
        if request is None:
            raise ClientGone
        return service.engine.start(request, completion.statistics), len(request.pages)

    @staticmethod
    async def _parts(
        generation: Generation, completion: Completion
    ) -> AsyncGenerator[tuple[str, list[dict[str, Any]] | None], None]:
        tokens = generation.tokens()
        async with aclosing(tokens):
            async for some in tokens:
                yield completion.add(some)
                if completion.is_over:
                    return

    async def _stream(
        self, parts: AsyncGenerator[tuple[str, list[dict[str, Any]] | None], None], completion: Completion, send: Send
    ) -> None:
        counted = self._asked.stream_options is not None and self._asked.stream_options.include_usage
        async with aclosing(parts):
            async for text, shown in parts:
                if not self._started:
                    await self._begin(send)
                    opening = {"role": "assistant", "content": "", "refusal": None}
                    await _send_event(send, completion.chunk(opening, usage=counted))
                if text or shown:
                    await _send_event(send, completion.chunk({"content": text}, shown, usage=counted))
        await _send_event(send, completion.chunk({}, None, completion.finish_reason, usage=counted))
        if counted:
            await _send_event(send, completion.usage_chunk())
        await send({"type": "http.response.body", "body": b"data: [DONE]\n\n", "more_body": False})

    async def _begin(self, send: Send) -> None:
        headers = [
            (b"content-type", b"text/event-stream; charset=utf-8"),
            (b"cache-control", b"no-cache"),
            (b"x-accel-buffering", b"no"),  # a proxy that gathers the answer would make a stream pointless
        ]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        self._started = True


async def _send_event(send: Send, value: dict[str, Any]) -> None:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    await send({"type": "http.response.body", "body": f"data: {text}\n\n".encode(), "more_body": True})
