"""Ways to spend the same bytes on a checkpoint, compared by what they do to its answers.

    python -m forklift.bench.quantizers MODEL --calibration FILE --documents DIR [--schema S] [--samples 100]

Prints, for each size, the mean KL divergence per answer token (nats) of: uniform widths rounded as `mlx.core.quantize`
does; oQ's allocation, restated; our allocation with that rounding; uniform widths with our rounding; both of ours.
Nothing is written: the matrices are replaced in memory by what their codes stand for.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import torch
from torch import Tensor

from forklift.bench.loss import LossReport, ReferenceAnswers
from forklift.checkpoint.load import load_model
from forklift.model.model import Model
from forklift.prompt import Prompter
from forklift.quantize.answer_source import HELD_OUT_SEED, labelled_samples
from forklift.quantize.calibration_file import Calibration, read_calibration
from forklift.quantize.levels import LEVELS, Matrix, budget_for_bits, language_matrices, total_weights
from forklift.quantize.plan import WIDTHS, make_plan
from forklift.quantize.rounding import Curvature, Rounder, round_min_max

Widths = Mapping[str, int]

# Of a level of oQ: the width of most matrices, the bits per weight that it aims at, and those that it never exceeds.
OQ_LEVELS = {
    "oQ3": (3, 3.5, 3.7),
    "oQ3.5": (3, 3.8, 4.0),
    "oQ4": (4, 4.6, 4.7),
    "oQ5": (5, 5.5, 5.7),
    "oQ6": (6, 6.5, 6.7),
}


def oq_widths(matrices: Sequence[Matrix], scores: Mapping[int, float], level: str, budget: int | None = None) -> Widths:
    """oQ's allocation, from its public description.

    scores: by layer, relative squared error of the layer's output when its matrices have the base width.
    Floors come first, in the order of names, while they fit the cap: 8 bits for the language head and the output of
    linear attention, two more than the base for embeddings, one more in the first and last eighth of the layers. Then
    layers are raised in the order of their scores while they fit the target: by 4 bits from half the largest score on,
    by 2 from a fifth on, the others by 1. Where the description leaves a choice (the order of raising; widths that do
    not exist become the next smaller one) this is ours.
    budget: bytes, instead of the level's own target and cap.
    """
    base, target, cap = OQ_LEVELS[level]
    weights = total_weights(list(matrices))
    target_bytes, cap_bytes = (budget, budget) if budget else (int(target * weights / 8), int(cap * weights / 8))
    widths = {matrix.path: base for matrix in matrices}
    used = sum(matrix.stored_bytes(base) for matrix in matrices)
    layers = max(scores) + 1
    edge = max(1, round(layers / 8))

    def raise_to(matrix: Matrix, bits: int, limit: int) -> None:
        nonlocal used
        bits = max(width for width in WIDTHS if width <= min(8, bits))
        more = matrix.stored_bytes(bits) - matrix.stored_bytes(widths[matrix.path])
        if more > 0 and used + more <= limit:
            widths[matrix.path] = bits
            used += more

    for matrix in sorted(matrices, key=lambda matrix: matrix.path):
        if matrix.kind in ("lm_head", "linear_attn.out_proj"):
            raise_to(matrix, 8, cap_bytes)
        elif matrix.kind == "embed_tokens":
            raise_to(matrix, base + 2, cap_bytes)
        elif matrix.layer is not None and not edge <= matrix.layer < layers - edge:
            raise_to(matrix, base + 1, cap_bytes)
    top = max(scores.values())
    for layer in sorted(scores, key=lambda layer: -scores[layer]):
        boost = 4 if scores[layer] >= top / 2 else 2 if scores[layer] >= top / 5 else 1
        for matrix in sorted((m for m in matrices if m.layer == layer), key=lambda matrix: matrix.path):
            raise_to(matrix, base + boost, target_bytes)
    return widths


class QuantizerBench:
    """A float model whose matrices are replaced and restored."""

    def __init__(self, model: Model, calibration: Calibration) -> None:
        self.model = model
        self.calibration = calibration
        self.matrices = language_matrices(model.config)
        parameters = dict(model.named_parameters())
        self._weights = {m.path: parameters[f"{m.path}.weight"] for m in self.matrices}
        self._originals = {path: weight.detach().clone() for path, weight in self._weights.items()}
        self._rounded: dict[tuple[str, int, str], Tensor] = {}

    def apply(self, widths: Widths, rounding: str) -> None:
        """rounding: "min/max" or "fitted". Restores the original where `widths` has no entry."""
        for path, weight in self._weights.items():
            weight.data.copy_(self._value(path, widths[path], rounding) if path in widths else self._originals[path])

    def _value(self, path: str, bits: int, rounding: str) -> Tensor:
        key = (path, bits, rounding)
        if key not in self._rounded:
            weight = self._originals[path].float()
            if rounding == "min/max":
                self._rounded[key] = round_min_max(weight, bits).dequantized()
            else:
                curvature = Curvature(self.calibration.sensitivity(path).moments)
                self._rounded[key] = Rounder(curvature).round(weight, bits).dequantized()
        return self._rounded[key]

    def layer_scores(self, reference: ReferenceAnswers, prompter: Prompter, bits: int) -> dict[int, float]:
        """oQ's sensitivity, on the documents given (its own are texts without images)."""
        layers = list(self.model.language.layers)
        errors = dict.fromkeys(range(len(layers)), 0.0)
        for sample, answer in zip(reference.samples, reference.answers, strict=True):
            calls: list[tuple[tuple[Tensor, ...], Tensor]] = []

            def keep(
                module: torch.nn.Module,
                inputs: tuple[Tensor, ...],
                output: Tensor,
                calls: list[tuple[tuple[Tensor, ...], Tensor]] = calls,
            ) -> None:
                calls.append((inputs, output))

            hooks = [layer.register_forward_hook(keep) for layer in layers]
            prompt = sample.prompt(prompter)
            ids = torch.tensor([*prompt.token_ids, *answer[:-1]])
            with torch.inference_mode():
                embedded = self.model.embed(ids, prompt.patches, prompt.grids)
                self.model.language(embedded[None], self.model.positions(ids, prompt.grids)[0])
                for hook in hooks:
                    hook.remove()
                self.apply(dict.fromkeys(self._weights, bits), "min/max")
                for index, (inputs, output) in enumerate(calls):
                    changed = layers[index](*inputs)
                    errors[index] += float((changed - output).square().mean() / output.square().mean())
                self.apply({}, "min/max")
        return errors


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("--calibration", type=Path, required=True)
    parser.add_argument("--documents", type=Path)
    parser.add_argument("--schema")
    parser.add_argument("--samples", type=int, default=100)
    parser.add_argument("--first", type=int, default=0, help="index of the first document")
    parser.add_argument("--score-samples", type=int, default=8, help="documents for oQ's layer scores")
    arguments = parser.parse_args()

    model = load_model(arguments.model, torch.float32)
    bench = QuantizerBench(model, read_calibration(arguments.calibration))
    with tempfile.TemporaryDirectory() as folder:
        samples, answers, prompter = labelled_samples(
            arguments.model,
            arguments.documents,
            arguments.schema,
            arguments.samples,
            scratch=Path(folder) / "documents",
            first=arguments.first,
            seed=HELD_OUT_SEED,
        )
        reference = ReferenceAnswers(Path(folder), samples, answers)
        reference.measure(model, prompter)
        few = ReferenceAnswers(Path(folder), samples[: arguments.score_samples], answers[: arguments.score_samples])

        def measure(widths: Widths, rounding: str) -> LossReport:
            bench.apply(widths, rounding)
            report = reference.compare(model, prompter)
            bench.apply({}, rounding)
            return report

        _print_tables(bench, measure, lambda bits: bench.layer_scores(few, prompter, bits))


def _print_tables(
    bench: QuantizerBench,
    measure: Callable[[Widths, str], LossReport],
    scores: Callable[[int], dict[int, float]],
) -> None:
    config, matrices, losses = bench.model.config, bench.matrices, bench.calibration.losses
    print("mean KL in nats per answer token, top-1 agreement in brackets")
    print("| bytes of | bits/weight | uniform | uniform, our rounding | our widths | both | both / uniform |")
    print("|---|---|---|---|---|---|---|")
    for bits in WIDTHS:
        budget = sum(matrix.stored_bytes(bits) for matrix in matrices)
        same, ours = dict.fromkeys(losses, bits), make_plan(matrices, losses, budget).bits
        reports = [measure(same, "min/max"), measure(same, "fitted"), measure(ours, "min/max"), measure(ours, "fitted")]
        cells = [f"uniform {bits}", f"{bits + 0.5}", *map(_cell, reports)]
        print("|", " | ".join([*cells, f"{reports[-1].mean_kl / reports[0].mean_kl:.2f}"]), "|", flush=True)
    print("| bytes of | bits/weight | oQ | oQ, our rounding | our widths | both | both / oQ |")
    print("|---|---|---|---|---|---|---|")
    for level in OQ_LEVELS:
        budget = budget_for_bits(config, LEVELS[level].bits_per_weight)
        theirs = oq_widths(matrices, scores(OQ_LEVELS[level][0]), level, budget)
        ours = make_plan(matrices, losses, sum(m.stored_bytes(theirs[m.path]) for m in matrices)).bits
        reports = [
            *(measure(theirs, rounding) for rounding in ("min/max", "fitted")),
            *(measure(ours, rounding) for rounding in ("min/max", "fitted")),
        ]
        taken = 8 * sum(m.stored_bytes(theirs[m.path]) for m in matrices) / total_weights(matrices)
        cells = [level, f"{taken:.3f}", *map(_cell, reports)]
        print("|", " | ".join([*cells, f"{reports[-1].mean_kl / reports[0].mean_kl:.2f}"]), "|", flush=True)


def _cell(report: LossReport) -> str:
    return f"{report.mean_kl:.2e} ({report.top1_agreement:.2%})"


if __name__ == "__main__":
    main()
