"""How many forward passes an answer takes: true answers, recited, so that no model is needed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from forklift.decoding.constraint import Constraint, TokenizerView
from forklift.decoding.decode import decode
from forklift.decoding.drafts import DocumentDrafter
from forklift.decoding.grammar import AnswerForm
from forklift.documents import Document
from forklift.engines.base import Sampling, Statistics
from forklift.errors import DecodeError
from forklift.evidence.word_index import PageWords
from forklift.page_texts import page_texts
from forklift.quantize.samples import Sample


@dataclass
class PassReport:
    """Counts over some documents. passes: the prompt's own among them. draft_tokens: read ahead; accepted: of those."""

    documents: int = 0
    answer_tokens: int = 0
    forced_tokens: int = 0
    passes: int = 0
    draft_tokens: int = 0
    accepted_draft_tokens: int = 0

    @property
    def per_token(self) -> float:
        """Forward passes for each token of the answers."""
        return self.passes / max(self.answer_tokens, 1)

    def add(self, other: PassReport) -> None:
        for name in self.__dataclass_fields__:
            setattr(self, name, getattr(self, name) + getattr(other, name))


class Reciter:
    """A `LocalModel` that says given tokens, whatever it reads."""

    def __init__(self, answer: Sequence[int], vocabulary_size: int) -> None:
        self._answer = answer
        self._row = torch.zeros(vocabulary_size)

    def prefill(self, prompt: Any) -> tuple[list[int], Tensor]:
        return [0], self._logits(0, 1)[0]

    def extend(self, state: list[int], token_ids: Sequence[int], *, last_only: bool = False) -> Tensor:
        state[0] += len(token_ids)
        rows = 1 if last_only else len(token_ids)
        return self._logits(state[0] - rows + 1, rows)

    def verify(self, state: list[int], token_ids: Sequence[int], draft: Sequence[int]) -> Tensor:
        state[0] += len(token_ids)
        state[1:] = [len(draft)]
        return self._logits(state[0], 1 + len(draft))

    def keep(self, state: list[int], count: int) -> None:
        state[0] += count

    def snapshot(self, state: list[int]) -> list[int]:
        return list(state)

    def _logits(self, start: int, rows: int) -> Tensor:
        logits = self._row.expand(rows, -1).clone()
        for row in range(rows):
            logits[row, self._answer[min(start + row, len(self._answer) - 1)]] = 30.0
        return logits


def document_words(sample: Sample) -> list[PageWords]:
    """The words of a sample's text layer."""
    with Document.open(sample.path) as document:
        return [PageWords(page.number, page.size, page.words) for page in page_texts(document) if page.words]


def count_passes(
    sample: Sample, answer: Sequence[int], view: TokenizerView, form: AnswerForm | None, *, drafts: bool = True
) -> PassReport:
    """The passes of one true answer, whose tokens are `answer`.

    Raises DecodeError where the schema does not allow it.
    """
    statistics = Statistics()
    drafter = DocumentDrafter(document_words(sample), view, sample.schema) if drafts else None
    tokens = list(
        decode(
            Reciter(answer, view.vocabulary_size),
            None,
            constraint=Constraint(view, sample.schema, form=form),
            sampling=Sampling(),
            max_new_tokens=len(answer) + 16,
            end_ids=view.end_token_ids,
            token_text=view.text,
            statistics=statistics,
            drafter=drafter,
        )
    )
    said = b"".join(token.text for token in tokens)
    wanted = b"".join(view.text(token) for token in answer)
    if said != wanted:
        raise DecodeError(f"{sample.path}: the schema does not let the true answer be said")
    return PassReport(
        documents=1,
        answer_tokens=len(tokens),
        forced_tokens=sum(token.forced for token in tokens),
        passes=statistics.forward_passes,
        draft_tokens=statistics.draft_tokens,
        accepted_draft_tokens=statistics.accepted_draft_tokens,
    )


def measure_passes(
    samples: Sequence[Sample],
    answers: Sequence[Sequence[int]],
    view: TokenizerView,
    form: AnswerForm | None,
    *,
    drafts: bool = True,
    on_sample: Callable[[], None] = lambda: None,
) -> PassReport:
    """The sum over documents; one whose true answer the schema does not allow is left out."""
    total = PassReport()
    for sample, answer in zip(samples, answers, strict=True):
        try:
            total.add(count_passes(sample, answer, view, form, drafts=drafts))
        except DecodeError:
            continue
        finally:
            on_sample()
    return total
