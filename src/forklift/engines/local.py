"""The engine that runs a checkpoint on this machine through our own PyTorch model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from forklift.checkpoint.load import load_model
from forklift.checkpoint.own_settings import own_setting
from forklift.decoding.biasing import DocumentBias, text_layer_penalty
from forklift.decoding.constraint import Constraint, TokenizerView
from forklift.decoding.decode import decode
from forklift.decoding.drafts import DocumentDrafter
from forklift.decoding.grammar import ANSWER_FORMS, AnswerForm
from forklift.engines.base import Request, Statistics, Token
from forklift.errors import CheckpointError, UsageError
from forklift.evidence.word_index import PageWords
from forklift.prompt import Prompt, Prompter

if TYPE_CHECKING:
    from forklift.engines.batched import BatchedEngine
    from forklift.model import Model
    from forklift.model.cache import Cache


class LocalEngine:
    """One checkpoint folder, loaded once.

    dtype: of the float weights and activations; None for what is fastest, see `preferred_dtype`.
    drafts: answers are drafted from the document's words and their own lists, which changes the time alone.
    Raises CheckpointError when the folder is no usable checkpoint.
    Several threads may generate at once: the weights are shared, each generation has its own state.
    """

    def __init__(self, folder: str | Path, dtype: torch.dtype | None = None) -> None:
        folder = Path(folder)
        dtype = dtype or preferred_dtype(folder)
        self.name = folder.name
        self.drafts = True
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
        prompt, options = self.prepare(request, statistics if statistics is not None else Statistics())
        return decode(self.model, prompt, **options)

    def prepare(self, request: Request, statistics: Statistics) -> tuple[Prompt, dict[str, Any]]:
        """The prompt of a request and what `decode_steps` takes beside it. Raises SchemaError or UsageError."""
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
        drafter = None
        if self.drafts and request.schema is not None:
            pages = [PageWords(text.number, text.size, text.words) for text in request.page_texts if text.words]
            drafter = DocumentDrafter(pages, self._view, request.schema)
        return prompt, {
            "constraint": constraint,
            "sampling": request.sampling,
            "max_new_tokens": min(request.max_new_tokens, room),
            "end_ids": self.end_ids,
            "token_text": self.prompter.decode_token,
            "cancel": request.cancel,
            "statistics": statistics,
            "drafter": drafter,
            "bias": DocumentBias(request.words, self.text_layer_penalty).start() if request.words else None,
        }

    def stepped(self) -> BatchedEngine:
        """The same model for several generations that go on together, as a server drives them."""
        from forklift.engines.batched import BatchedEngine

        return BatchedEngine(self)

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
        self.model = model
        self.device = next(model.parameters()).device

    def prefill(self, prompt: Prompt) -> tuple[Cache, Tensor]:
        token_ids = torch.tensor(prompt.token_ids, device=self.device)
        patches = prompt.patches.to(self.device) if prompt.grids else None
        splits = range(_PREFILL_TOKENS, len(prompt.token_ids), _PREFILL_TOKENS)
        return self.model.prefill(token_ids, patches, prompt.grids, splits)

    def extend(self, state: Cache, token_ids: Sequence[int], *, last_only: bool = False) -> Tensor:
        return self.model.extend(state, torch.tensor(token_ids, device=self.device), last_only)

    def verify(self, state: Cache, token_ids: Sequence[int], draft: Sequence[int]) -> Tensor:
        tokens = torch.tensor([*token_ids, *draft], device=self.device)
        return self.model.verify(state, tokens, len(draft))

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
    name, path = own_setting(folder, "answer_form")
    if name is None:
        return None
    if name not in ANSWER_FORMS:
        raise CheckpointError(f"{path}: forklift.answer_form is {name!r}; the forms are {', '.join(ANSWER_FORMS)}")
    return ANSWER_FORMS[name]
