"""The engine that runs a checkpoint on this machine through our own PyTorch model."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from forklift.checkpoint.load import load_model
from forklift.decoding.biasing import DocumentBias, text_layer_penalty
from forklift.decoding.constraint import Constraint, TokenizerView
from forklift.decoding.decode import decode
from forklift.decoding.grammar import ANSWER_FORMS, AnswerForm
from forklift.engines.base import Request, Statistics, Token
from forklift.errors import CheckpointError, UsageError
from forklift.prompt import Prompt, Prompter

if TYPE_CHECKING:
    from forklift.model import Model
    from forklift.model.cache import Cache


class LocalEngine:
    """One checkpoint folder, loaded once.

    dtype: of the float weights and activations; None for what is fastest, see `preferred_dtype`.
    Raises CheckpointError when the folder is no usable checkpoint.
    Several threads may generate at once: the weights are shared, each generation has its own state.
    """

    def __init__(self, folder: str | Path, dtype: torch.dtype | None = None) -> None:
        folder = Path(folder)
        dtype = dtype or preferred_dtype(folder)
        self.name = folder.name
        self.prompter = Prompter.from_folder(folder)
        self.form = answer_form(folder)
        self.text_layer_penalty = text_layer_penalty(folder)
        model = load_model(folder, dtype)
        self.max_positions: int = model.config.text.max_positions
        self.model = TorchModel(model)
        # The end of a turn first: it is what a complete answer is closed with.
        self.end_ids = end_ids(self.prompter)
        self._view = TokenizerView.cached(
            self.prompter.tokenizer.to_str(), self.end_ids, model.config.text.vocabulary_size
        )

    def generate(self, request: Request, statistics: Statistics | None = None) -> Iterator[Token]:
        """The answer's tokens. Raises SchemaError or UsageError at once, DecodeError while it runs."""
        statistics = statistics if statistics is not None else Statistics()
        constraint = None
        if request.schema is not None:
            constraint = Constraint(self._view, request.schema, strict=request.strict, form=self.form)
        prompt = self.prompter.build(request.pages, request.text)
        statistics.prompt_tokens += len(prompt.token_ids)
        room = self.max_positions - len(prompt.token_ids)
        if room <= 0:
            raise UsageError(
                f"the prompt has {len(prompt.token_ids)} tokens and the model takes {self.max_positions}; "
                "give fewer pages (--pages)"
            )
        return decode(
            self.model,
            prompt,
            constraint=constraint,
            sampling=request.sampling,
            max_new_tokens=min(request.max_new_tokens, room),
            end_ids=self.end_ids,
            token_text=self.prompter.decode_token,
            cancel=request.cancel,
            statistics=statistics,
            bias=DocumentBias(request.words, self.text_layer_penalty).start() if request.words else None,
        )

    def close(self) -> None:
        """Nothing to release: the weights go with the object."""


# Bytes of weights up to which float32 decodes faster on a CPU: they fit the caches, and a bfloat16 product of one
# row costs three times as much there (docs/log.md). Above it, reading half the bytes wins.
_SMALL_BYTES = 256 << 20


def preferred_dtype(folder: Path) -> torch.dtype:
    """float32 for a small checkpoint, bfloat16 for any other."""
    stored = sum(path.stat().st_size for path in folder.glob("*.safetensors"))
    return torch.float32 if stored <= _SMALL_BYTES else torch.bfloat16


# Tokens of a prompt that are read in one pass. At the 9B widths the activations of 60 pages at once would take some
# 14 GiB; in pieces of this size they stay below 1 GiB, and the result is the same.
_PREFILL_TOKENS = 4096


class TorchModel:
    """`forklift.model.Model` as the decoder drives it."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._device = next(model.parameters()).device

    def prefill(self, prompt: Prompt) -> tuple[Cache, Tensor]:
        token_ids = torch.tensor(prompt.token_ids, device=self._device)
        patches = prompt.patches.to(self._device) if prompt.grids else None
        splits = range(_PREFILL_TOKENS, len(prompt.token_ids), _PREFILL_TOKENS)
        return self._model.prefill(token_ids, patches, prompt.grids, splits)

    def extend(self, state: Cache, token_ids: Sequence[int], *, last_only: bool = False) -> Tensor:
        return self._model.extend(state, torch.tensor(token_ids, device=self._device), last_only)

    def verify(self, state: Cache, token_ids: Sequence[int], draft: Sequence[int]) -> Tensor:
        tokens = torch.tensor([*token_ids, *draft], device=self._device)
        return self._model.verify(state, tokens, len(draft))

    def keep(self, state: Cache, count: int) -> None:
        state.keep(count)

    def snapshot(self, state: Cache) -> Cache:
        return state.snapshot()


def end_ids(prompter: Prompter) -> tuple[int, ...]:
    turn_end = prompter.tokenizer.token_to_id("<|im_end|>")
    others = sorted(prompter.end_of_turn_ids - {turn_end})
    return (*others,) if turn_end is None else (turn_end, *others)


def answer_form(folder: Path) -> AnswerForm | None:
    """The spacing that generation_config.json states for this checkpoint's answers, if any."""
    path = folder / "generation_config.json"
    if not path.is_file():
        return None
    try:
        settings = json.loads(path.read_text(encoding="utf-8"))
        name = (settings.get("forklift") or {}).get("answer_form")
    except (OSError, ValueError, AttributeError) as error:
        raise CheckpointError(f"{path}: cannot be read: {error}") from None
    if name is None:
        return None
    if name not in ANSWER_FORMS:
        raise CheckpointError(f"{path}: forklift.answer_form is {name!r}; the forms are {', '.join(ANSWER_FORMS)}")
    return ANSWER_FORMS[name]
