"""The local engine for a server: the passes of several answers are one pass, prompts are read piece by piece."""

from __future__ import annotations

import hashlib
from collections.abc import Generator, Sequence
from typing import TYPE_CHECKING, Any

import torch

from forklift.decoding.decode import Pass, Prefill, Step, decode_steps
from forklift.engines.base import Request, Statistics, Token
from forklift.model.batch import extend_each
from forklift.model.prefill import PrefixCache, prefill_steps

if TYPE_CHECKING:
    from forklift.engines.local import LocalEngine
    from forklift.model.cache import Cache
    from forklift.prompt import Prompt
    from forklift.serving.stepping import Advance, Run

# Tokens of a prompt between two passes of the answers beside it.
PREFILL_PIECE = 512
# Of documents that were read and may be asked about again.
PREFIX_BUDGET_BYTES = 512 << 20


class BatchedEngine:
    """Generations over one `LocalEngine` that go on together; implements `serving.stepping.SteppedEngine`."""

    def __init__(
        self, engine: LocalEngine, *, piece: int = PREFILL_PIECE, prefix_budget_bytes: int = PREFIX_BUDGET_BYTES
    ) -> None:
        self.name = engine.name
        self.prefixes = PrefixCache(prefix_budget_bytes)
        self._engine = engine
        self._piece = piece

    def start(self, request: Request, statistics: Statistics | None = None) -> BatchedRun:
        statistics = statistics if statistics is not None else Statistics()
        prompt, options = self._engine.prepare(request, statistics)
        return BatchedRun(prompt, decode_steps(prompt, **options), statistics)

    def step(self, runs: Sequence[Run]) -> list[Advance]:
        """One pass for all that decode, then one piece of the prompt of each that prefills."""
        own = [run for run in runs if isinstance(run, BatchedRun)]
        decoding = [run for run in own if isinstance(run.wish, Pass)]
        advances: dict[BatchedRun, Advance] = dict(zip(decoding, self._decode(decoding), strict=True))
        for run in own:
            if run not in advances:
                advances[run] = self._prefill(run)
        return [advances[run] for run in own]

    def close(self) -> None:
        self._engine.close()

    def _decode(self, runs: Sequence[BatchedRun]) -> list[Advance]:
        if not runs:
            return []
        passes = [run.wish for run in runs if isinstance(run.wish, Pass)]
        model = self._engine.model.model
        answers: Sequence[Any]
        before: list[Cache] = []
        for one in passes:
            if one.kept is not None:
                one.state.keep(one.kept)
            before.append(one.state.snapshot())
        token_ids = [[*one.token_ids, *one.draft] for one in passes]
        drafts = [len(one.draft) for one in passes]
        try:
            answers = extend_each(model, [one.state for one in passes], token_ids, drafts)
        except Exception:  # one of them may be at fault, or all together take too much memory
            answers = []
            for one, ids, draft, cache in zip(passes, token_ids, drafts, before, strict=True):
                one.state.restore(cache)
                try:
                    answers.append(extend_each(model, [one.state], [ids], [draft])[0])
                except Exception as error:
                    answers.append(error)
        return [run.go_on(answer) for run, answer in zip(runs, answers, strict=True)]

    def _prefill(self, run: BatchedRun) -> Advance:
        try:
            if run.wish is None:  # not begun; a request that is cancelled or may write nothing ends here
                tokens = run.go_on(None)
                if not isinstance(run.wish, Prefill):
                    return tokens
            if run.prefill is None:
                run.prefill = self._read(run.prompt)
            try:
                next(run.prefill)
                return []
            except StopIteration as end:
                return run.go_on(end.value)
        except Exception as error:
            return error

    def _read(self, prompt: Prompt) -> Generator[None, None, Any]:
        device = self._engine.model.device
        token_ids = torch.tensor(prompt.token_ids, device=device)
        patches = prompt.patches.to(device) if prompt.grids else None
        boundary, key, known = 0, b"", None
        if prompt.grids and self.prefixes.budget_bytes:
            image = self._engine.prompter.image_token_id
            boundary = max(index for index, token in enumerate(prompt.token_ids) if token == image) + 1
            key = _digest(prompt, boundary)
            known = self.prefixes.get(key)
        return prefill_steps(
            self._engine.model.model,
            token_ids,
            patches,
            prompt.grids,
            piece=self._piece,
            boundary=boundary,
            known=known,
            keep=(lambda cache: self.prefixes.put(key, cache)) if boundary else None,
        )


class BatchedRun:
    """One generation: what it has decoded, and what it wants of the model next."""

    def __init__(self, prompt: Prompt, steps: Generator[Step, Any, None], statistics: Statistics) -> None:
        self.prompt = prompt
        self.statistics = statistics
        self.prefill: Generator[None, None, Any] | None = None
        self.wish: Prefill | Pass | None = None
        self._steps = steps

    @property
    def is_prefilling(self) -> bool:
        return not isinstance(self.wish, Pass)

    def go_on(self, answer: Any) -> Advance:
        """The tokens up to the next pass, after what the last one gave; an exception is passed through."""
        if isinstance(answer, Exception):
            return answer
        tokens: list[Token] = []
        try:
            while True:
                step = self._steps.send(answer)
                answer = None
                if not isinstance(step, Token):
                    self.wish = step
                    return tokens
                tokens.append(step)
                if step.outcome is not None:
                    return tokens
        except StopIteration:
            return RuntimeError("decoding stopped without saying why")
        except Exception as error:
            return error

    def close(self) -> None:
        if self.prefill is not None:
            self.prefill.close()
        self._steps.close()
        self.prefill, self.wish = None, None


def _digest(prompt: Prompt, boundary: int) -> bytes:
    """Of the pages and of every token up to the end of the last one."""
    digest = hashlib.blake2b(repr((prompt.grids, prompt.token_ids[:boundary])).encode(), digest_size=16)
    digest.update(prompt.patches.numpy().data)
    return digest.digest()
