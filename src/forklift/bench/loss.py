"""How far other checkpoints' answers are from a reference's, token by token on the same documents.

Each model reads the same prompt and the same answer; compared are its distributions over the next token, at every
token of the answer. The reference's are kept on the disk, so one model is in memory at a time.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from forklift.checkpoint.load import load_model
from forklift.errors import UsageError
from forklift.model.model import Model
from forklift.outputs.files import cannot_write
from forklift.prompt import Prompter
from forklift.quantize.samples import Sample

_TOKENS_AT_ONCE = 64  # answer tokens whose logits over the vocabulary are in memory together


@dataclass(frozen=True)
class LossReport:
    """Divergences in nats per answer token, of the reference's distribution from the other's.

    top1_agreement: share of the tokens where both find the same one likeliest. perplexity_ratio: perplexity of the
    given answers, the other's over the reference's.
    """

    answer_tokens: int
    mean_kl: float
    median_kl: float
    kl_99: float
    kl_999: float
    top1_agreement: float
    perplexity_ratio: float


def answer_log_probabilities(
    model: Model, prompter: Prompter, sample: Sample, answer: Sequence[int]
) -> Iterator[Tensor]:
    """Log-probabilities, float32 [tokens, vocabulary], before each token of the answer, some tokens at a time."""
    prompt = sample.prompt(prompter)
    device = next(model.parameters()).device
    token_ids = torch.tensor([*prompt.token_ids, *answer[:-1]], device=device)
    with torch.inference_mode():
        embedded = model.embed(token_ids, prompt.patches.to(device), prompt.grids)
        positions, _ = model.positions(token_ids, prompt.grids)
        hidden = model.language(embedded[None], positions)[0, len(prompt.token_ids) - 1 :]
        for part in hidden.split(_TOKENS_AT_ONCE):
            yield model.logits(part).float().log_softmax(-1).cpu()


class ReferenceAnswers:
    """What the reference model gives for every answer token, kept in a folder."""

    def __init__(self, folder: Path, samples: Sequence[Sample], answers: Sequence[Sequence[int]]) -> None:
        self._folder = folder
        self.samples = samples
        self.answers = answers

    def measure(self, model: Model, prompter: Prompter, on_sample: Callable[[], None] = lambda: None) -> None:
        """Fill the folder. bfloat16 would lose what is measured: float32."""
        for index, (sample, answer) in enumerate(zip(self.samples, self.answers, strict=True)):
            parts = list(answer_log_probabilities(model, prompter, sample, answer))
            torch.save(torch.cat(parts), self._folder / f"{index}.pt")
            on_sample()

    def compare(self, model: Model, prompter: Prompter, on_sample: Callable[[], None] = lambda: None) -> LossReport:
        """Another model against what was measured."""
        divergences, agreements, ratios = [], [], []
        for index, (sample, answer) in enumerate(zip(self.samples, self.answers, strict=True)):
            reference = torch.load(self._folder / f"{index}.pt", mmap=True, weights_only=True)
            start = 0
            for theirs in answer_log_probabilities(model, prompter, sample, answer):
                ours = reference[start : start + theirs.shape[0]]
                given = torch.tensor(answer[start : start + theirs.shape[0]])[:, None]
                if ours.shape != theirs.shape:
                    raise UsageError(
                        f"the models do not have the same tokens: {ours.shape[1]} in the reference, {theirs.shape[1]}"
                    )
                divergences.append((ours.double().exp() * (ours.double() - theirs.double())).sum(-1).clamp(min=0))
                agreements.append(ours.argmax(-1) == theirs.argmax(-1))
                ratios.append((ours.gather(1, given) - theirs.gather(1, given)).double())
                start += theirs.shape[0]
            on_sample()
        divergence = torch.cat(divergences)
        return LossReport(
            answer_tokens=divergence.shape[0],
            mean_kl=float(divergence.mean()),
            median_kl=float(divergence.median()),
            kl_99=float(divergence.quantile(0.99)),
            kl_999=float(divergence.quantile(0.999)),
            top1_agreement=float(torch.cat(agreements).double().mean()),
            perplexity_ratio=math.exp(float(torch.cat(ratios).mean())),
        )


def measure_loss(
    reference: Path,
    others: Sequence[Path],
    samples: Sequence[Sample],
    answers: Sequence[Sequence[int]],
    dtype: torch.dtype,
    on_sample: Callable[[], None] = lambda: None,
) -> list[LossReport]:
    """One report for each of `others`. Raises CheckpointError for a folder that cannot be loaded, OutputError where
    the disk is full, UsageError where the vocabularies differ."""
    prompter = Prompter.from_folder(reference)
    with tempfile.TemporaryDirectory(prefix="forklift-loss-") as folder:
        kept = ReferenceAnswers(Path(folder), samples, answers)
        try:
            kept.measure(load_model(reference, dtype), prompter, on_sample)
        except OSError as error:
            raise cannot_write(folder, error) from error
        return [kept.compare(load_model(other, dtype), prompter, on_sample) for other in others]


def field_accuracies(
    models: Sequence[Path],
    samples: Sequence[Sample],
    dtype: torch.dtype,
    on_sample: Callable[[], None] = lambda: None,
) -> list[float | None]:
    """Share of the fields that each model extracts right, scored as `forklift eval` does; None without gold answers."""
    from forklift.engines.local import LocalEngine
    from forklift.evaluate.expected import ExpectedFields
    from forklift.evaluate.score import FieldScore, count, score
    from forklift.extract import Extractor

    accuracies: list[float | None] = []
    for folder in models:
        engine = LocalEngine(folder, dtype)
        scored: list[FieldScore] = []
        with Extractor(engine, engine.prompter.page_policy) as extractor:
            for sample in samples:
                if sample.gold_text is not None:
                    answer = extractor.extract(sample.path, sample.schema).data
                    scored += score(sample.gold, answer, ExpectedFields(sample.schema.source)).fields
                on_sample()
        accuracies.append(count(scored).accuracy if scored else None)
    return accuracies
