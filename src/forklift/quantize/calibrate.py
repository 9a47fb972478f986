"""Measures how much each matrix's errors change a model's answers, one layer in memory at a time.

Prompts go forwards through the layers, what stands between two layers is kept on the disk; then the gradients come
backwards, each layer computed once more for them. Every step leaves its results in files before it counts as done, so a
calibration that was interrupted goes on where it stood. Samples go in batches that the disk has room for.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from forklift import __version__
from forklift.checkpoint.config_writer import write_json
from forklift.checkpoint.load import stays_float32
from forklift.checkpoint.tensors import TensorReader
from forklift.errors import CheckpointError, UsageError
from forklift.model.language import DecoderLayer
from forklift.model.linear import Linear
from forklift.model.model import Model
from forklift.model.norm import RMSNorm
from forklift.model.rotary import text_rotation
from forklift.outputs.files import cannot_write
from forklift.prompt import Prompter
from forklift.quantize.calibration_file import write_calibration
from forklift.quantize.fingerprint import model_fingerprint
from forklift.quantize.levels import Matrix, language_matrices
from forklift.quantize.losses import expected_losses
from forklift.quantize.samples import MAX_TOKENS, Sample
from forklift.quantize.sensitivity import Sensitivity, Sums, finish

# What may lie on the disk between the layers at a time.
SCRATCH_BYTES = 20 << 30
_HEAD_TOKENS = 64  # answer tokens whose logits are in memory together

OnStep = Callable[[float, float, str], None]  # work done, all work, what comes next


@dataclass(frozen=True)
class CalibrationSettings:
    seed: int = 0
    dtype: torch.dtype = torch.float32
    device: str = "cpu"
    scratch_bytes: int = SCRATCH_BYTES
    source: str = ""  # of the documents, in words; recorded


@dataclass(frozen=True)
class _Step:
    label: str
    work: float  # relative
    run: Callable[[], None]


def calibrate(
    reader: TensorReader,
    prompter: Prompter,
    samples: Sequence[Sample],
    answers: Sequence[Sequence[int]],
    output: Path,
    settings: CalibrationSettings,
    on_step: OnStep = lambda done, total, label: None,
) -> None:
    """Write the artifact `output`. Its work lies in `<output>.partial` until then; the same call resumes.

    answers: tokens of each sample's answer, the end of the turn included.
    Raises UsageError where no sample is short enough, CheckpointError, naming the tensor, where weights or activations
    are not finite, OutputError where the disk is full.
    """
    assert len(samples) == len(answers)
    scratch = output.with_name(f"{output.name}.partial")
    try:
        _Calibration(reader, prompter, samples, answers, output, scratch, settings).run(on_step)
    except OSError as error:
        raise cannot_write(scratch, error) from error
    shutil.rmtree(scratch, ignore_errors=True)


class _Calibration:
    def __init__(
        self,
        reader: TensorReader,
        prompter: Prompter,
        samples: Sequence[Sample],
        answers: Sequence[Sequence[int]],
        output: Path,
        scratch: Path,
        settings: CalibrationSettings,
    ) -> None:
        self.reader = reader
        self.config = reader.config
        self.prompter = prompter
        self.samples = samples
        self.answers = answers
        self.output = output
        self.scratch = scratch
        self.settings = settings
        self.layers = len(self.config.text.layer_kinds)
        self.matrices: dict[int | None, list[Matrix]] = {}
        for matrix in language_matrices(self.config):
            self.matrices.setdefault(matrix.layer, []).append(matrix)
        with torch.device("meta"):
            self.model = Model(self.config)
        self.tied = self.config.text.tie_word_embeddings
        self.fingerprint = model_fingerprint(reader)

    # Running and resuming

    def run(self, on_step: OnStep) -> None:
        self.scratch.mkdir(parents=True, exist_ok=True)
        state_path = self.scratch / "state.json"
        digest = self._digest()
        state = json.loads(state_path.read_text()) if state_path.exists() else {}
        if state.get("digest") != digest:
            for path in self.scratch.iterdir():
                if path.is_file():  # made-up documents have a folder in it
                    path.unlink()
            state = {"digest": digest, "done": 0}
        if not (self.scratch / "prompts.safetensors").exists():
            on_step(0, 1, "reading documents")
            self._save("prompts", self._read_prompts())
        self.prompts = _Prompts(load_file(self.scratch / "prompts.safetensors"))
        steps = list(self._steps())
        total = sum(step.work for step in steps)
        worked = 0.0
        for number, step in enumerate(steps):
            on_step(worked, total, step.label)
            worked += step.work
            if number >= state["done"]:
                step.run()
                state["done"] = number + 1
                write_json(state_path, state)
        on_step(total, total, "done")

    def _digest(self) -> str:
        text = [FORMAT_OF_WORK, __version__, self.fingerprint, str(self.settings.seed), str(self.settings.dtype)]
        text += [str(self.settings.scratch_bytes), self.settings.source]
        for sample, answer in zip(self.samples, self.answers, strict=True):
            with sample.path.open("rb") as file:
                text.append(hashlib.file_digest(file, "sha256").hexdigest())
            text += [sample.schema.prompt_text, json.dumps(list(answer))]
        return hashlib.sha256("\n".join(text).encode()).hexdigest()

    def _steps(self) -> Iterator[_Step]:
        batches = self._batches()
        for number, batch in enumerate(batches):
            of = f" (batch {number + 1} of {len(batches)})" if len(batches) > 1 else ""
            work = sum(self.prompts.lengths[i] for i in batch)
            yield _Step(f"reading pages{of}", work, partial(self._embed, batch))
            for layer in range(self.layers):
                yield _Step(
                    f"forwards, layer {layer + 1} of {self.layers}{of}",
                    work,
                    partial(self._forward, batch, layer),
                )
            yield _Step(f"answers{of}", work, partial(self._head, batch, number))
            for layer in reversed(range(self.layers)):
                yield _Step(
                    f"backwards, layer {layer + 1} of {self.layers}{of}",
                    4 * work,
                    partial(self._backward, batch, number, layer),
                )
            yield _Step(f"embeddings{of}", 0.1 * work, partial(self._embedding_sums, batch, number))
        last = len(batches) - 1
        # In the units of above, one token of one layer: rounding 6 x 512 rows of a matrix is some 2000 tokens' work.
        for layer in (*range(self.layers), None):
            label = "losses of the embeddings" if layer is None else f"losses, layer {layer + 1} of {self.layers}"
            yield _Step(label, 2000, partial(self._losses, last, layer))
        yield _Step("writing", 100, self._write)

    def _batches(self) -> list[list[int]]:
        """Samples that go through the layers together, so that what lies between the layers fits the scratch space."""
        item = torch.finfo(self.settings.dtype).bits // 8
        per_token = self.config.text.hidden_size * item * (self.layers + 3)
        batches: list[list[int]] = [[]]
        held = 0
        for index, length in enumerate(self.prompts.lengths):
            if batches[-1] and held + length * per_token > self.settings.scratch_bytes:
                batches.append([])
                held = 0
            batches[-1].append(index)
            held += length * per_token
        return batches

    # Files between steps

    def _save(self, name: str, tensors: dict[str, Tensor]) -> None:
        path = self.scratch / f"{name}.safetensors"
        partial = path.with_suffix(".writing")
        save_file({key: tensor.cpu().contiguous() for key, tensor in tensors.items()}, partial)
        os.replace(partial, path)

    def _load(self, name: str) -> dict[str, Tensor]:
        return load_file(self.scratch / f"{name}.safetensors")

    def _discard(self, name: str) -> None:
        (self.scratch / f"{name}.safetensors").unlink(missing_ok=True)

    def _split(self, batch: list[int], border: Tensor) -> list[Tensor]:
        return list(border.split([self.prompts.lengths[i] for i in batch]))

    # The steps

    def _read_prompts(self) -> dict[str, Tensor]:
        """Tokens and rotary positions of every sample that is short enough, one after the other."""
        tokens, positions, lengths, starts, kept = [], [], [], [], []
        longest = 0
        for index, (sample, answer) in enumerate(zip(self.samples, self.answers, strict=True)):
            prompt = sample.prompt(self.prompter)
            ids = torch.tensor([*prompt.token_ids, *answer[:-1]])
            longest = max(longest, len(ids))
            if len(ids) > min(MAX_TOKENS, self.config.text.max_positions) or not answer:
                continue
            tokens.append(ids)
            positions.append(self.model.positions(ids, prompt.grids)[0])
            lengths.append(len(ids))
            starts.append(len(prompt.token_ids) - 1)
            kept.append(index)
        if not kept:
            raise UsageError(
                f"none of the {len(self.samples)} documents can be calibrated on: with prompt and answer the longest "
                f"has {longest} tokens, at most {min(MAX_TOKENS, self.config.text.max_positions)} are taken; "
                "give documents of fewer pages"
            )
        return {
            "tokens": torch.cat(tokens),
            "positions": torch.cat(positions, 1),
            "lengths": torch.tensor(lengths),
            "starts": torch.tensor(starts),
            "kept": torch.tensor(kept),
        }

    def _embed(self, batch: list[int]) -> None:
        dtype, device = self.settings.dtype, self.settings.device
        vision = self._filled(self.model.vision, "vision")
        borders = []
        for index in batch:
            ids = self.prompts.tokens(index)
            used, place = ids.unique(return_inverse=True)
            embedded = self.reader.select("language.embed_tokens.weight", used).to(dtype)[place].to(device)
            prompt = self.samples[self.prompts.kept[index]].prompt(self.prompter)
            with torch.inference_mode():
                images = vision(prompt.patches.to(device, dtype), prompt.grids)
                where = (ids == self.config.image_token_id).to(device)
                borders.append(embedded.masked_scatter(where[:, None], images.to(dtype)))
        self.model.vision.to("meta")
        self._save_border("border-0", borders)

    def _forward(self, batch: list[int], layer: int) -> None:
        module = self._layer(layer)
        borders = []
        with torch.inference_mode():
            for index, hidden in zip(batch, self._split(batch, self._load(f"border-{layer}")["x"]), strict=True):
                borders.append(module(hidden[None].to(self.settings.device), self._rotation(index))[0])
        self._save_border(f"border-{layer + 1}", borders)

    def _head(self, batch: list[int], number: int) -> None:
        """From the last layer's output to the gradient there, and what the language head learns."""
        device = self.settings.device
        norm = RMSNorm(self.config.text.hidden_size, self.config.text.rms_norm_eps)
        norm.weight = nn.Parameter(self.reader.read("language.norm.weight").float(), requires_grad=False)
        norm.to(device)
        path = "language.embed_tokens" if self.tied else "lm_head"
        weight = self.reader.read(f"{path}.weight").to(device, self.settings.dtype)
        sums = self._sums(number, None)
        gradients = []
        for index, hidden in zip(batch, self._split(batch, self._load(f"border-{self.layers}")["x"]), strict=True):
            generator = torch.Generator().manual_seed(self.settings.seed * 1_000_003 + self.prompts.kept[index])
            start = self.prompts.starts[index]
            answer = hidden[start:].to(device).detach().requires_grad_(True)
            normed = norm(answer)
            back = torch.zeros_like(normed)
            with torch.no_grad():
                for first in range(0, normed.shape[0], _HEAD_TOKENS):
                    part = normed[first : first + _HEAD_TOKENS]
                    probabilities = (part @ weight.t()).float().softmax(-1)
                    draw = torch.randn(probabilities.shape, generator=generator).to(device) * probabilities.sqrt()
                    seed = draw - probabilities * draw.mul(probabilities.sqrt()).sum(-1, keepdim=True)
                    back[first : first + _HEAD_TOKENS] = seed.to(weight.dtype) @ weight
                    if path in sums:
                        sums[path].add_head(part, probabilities)
            (gradient,) = torch.autograd.grad(normed, answer, back)
            gradients.append(torch.cat((torch.zeros_like(hidden[:start]), gradient.cpu())))
        self._save_sums(number, None, sums)
        self._save_border(f"gradient-{self.layers}", gradients)

    def _backward(self, batch: list[int], number: int, layer: int) -> None:
        module = self._layer(layer)
        sums = self._sums(number, layer)
        prefix = f"language.layers.{layer}."
        linears = {path: module.get_submodule(path.removeprefix(prefix)) for path in sums}
        seen: dict[str, tuple[Tensor, Tensor]] = {}
        hooks = [_watch(linear, path, seen) for path, linear in linears.items()]
        borders = self._split(batch, self._load(f"border-{layer}")["x"])
        gradients = self._split(batch, self._load(f"gradient-{layer + 1}")["x"])
        earlier = []
        for index, hidden, gradient in zip(batch, borders, gradients, strict=True):
            entering = hidden[None].to(self.settings.device).requires_grad_(True)
            leaving = module(entering, self._rotation(index))
            (back,) = torch.autograd.grad(leaving, entering, gradient[None].to(self.settings.device))
            earlier.append(back[0])
            for path, (inputs, outputs) in seen.items():
                sums[path].add(inputs[0], outputs[0])
            seen.clear()
        for hook in hooks:
            hook.remove()
        self._save_sums(number, layer, sums)
        self._save_border(f"gradient-{layer}", earlier)
        if layer + 1 < self.layers:
            self._discard(f"border-{layer + 2}")
            self._discard(f"gradient-{layer + 2}")

    def _embedding_sums(self, batch: list[int], number: int) -> None:
        # Under its own name: the step before it in this file, `_head`, was done once already.
        path = "language.embed_tokens"
        held = self._load(_sums_name(number, None))
        sums = {name: Sums(*(held[f"{name}.{part}"] for part in _PARTS)) for name in self._paths(None)}
        if path in sums:
            for index, gradient in zip(batch, self._split(batch, self._load("gradient-0")["x"]), strict=True):
                ids = self.prompts.tokens(index)
                text = ids != self.config.image_token_id
                sums[path].add_lookups(ids[text], gradient[text])
        self._save(f"{_sums_name(number, None)}-whole", _flat(sums))

    def _losses(self, number: int, layer: int | None) -> None:
        name = _sums_name(number, layer) + ("-whole" if layer is None else "")
        held = self._load(name)
        found: dict[str, Tensor] = {}
        for matrix in self.matrices.get(layer, []):
            sums = Sums(*(held[f"{matrix.path}.{part}"] for part in _PARTS))
            lookups_only = matrix.path == "language.embed_tokens" and not self.tied
            sensitivity = finish(sums, self.prompts.answer_tokens, seen_rows_only=lookups_only)
            self._check(matrix.path, sensitivity)
            losses = expected_losses(
                sensitivity,
                matrix.rows,
                partial(self._rows, f"{matrix.path}.weight"),
                self.settings.device,
            )
            found[f"{matrix.path}.diagonal"] = sensitivity.diagonal
            found[f"{matrix.path}.correlation"] = sensitivity.correlation
            found[f"{matrix.path}.rows"] = sensitivity.row_weights
            found[f"{matrix.path}.losses"] = torch.tensor(losses, dtype=torch.float64)
        self._save(f"found-{layer}", found)

    def _write(self) -> None:
        found: dict[str, Sensitivity] = {}
        for layer, matrices in self.matrices.items():
            held = self._load(f"found-{layer}")
            for matrix in matrices:
                diagonal, correlation, rows, losses = (
                    held[f"{matrix.path}.{part}"] for part in ("diagonal", "correlation", "rows", "losses")
                )
                found[matrix.path] = Sensitivity(diagonal, correlation, rows, tuple(losses.tolist()))
        facts: dict[str, Any] = {
            "documents": self.settings.source,
            "samples": len(self.prompts.lengths),
            "tokens": sum(self.prompts.lengths),
            "answer_tokens": self.prompts.answer_tokens,
            "seed": self.settings.seed,
            "arithmetic": str(self.settings.dtype).removeprefix("torch."),
            "version": __version__,
        }
        write_calibration(self.output, self.fingerprint, facts, found)

    # Helpers of the steps

    def _filled(self, module: nn.Module, prefix: str) -> nn.Module:
        """The module with its weights read, ready to compute."""
        weights = {}
        for name in module.state_dict():
            tensor = self.reader.read(f"{prefix}.{name}")
            self._finite(f"{prefix}.{name}", tensor)
            dtype = torch.float32 if stays_float32(f"{prefix}.{name}") else self.settings.dtype
            weights[name] = tensor.to(self.settings.device, dtype)
        module.load_state_dict(weights, assign=True)
        return module.eval().requires_grad_(False)

    def _layer(self, layer: int) -> nn.Module:
        with torch.device("meta"):
            module = DecoderLayer(self.config.text, self.config.text.layer_kinds[layer])
        return self._filled(module, f"language.layers.{layer}")

    def _rotation(self, index: int) -> tuple[Tensor, Tensor]:
        positions = self.prompts.positions(index).to(self.settings.device)
        return text_rotation(self.config.text, positions, self.settings.dtype)

    def _finite(self, name: str, tensor: Tensor) -> Tensor:
        if not torch.isfinite(tensor).all():
            raise CheckpointError(f"{self.reader.folder}: {name} holds NaN or infinity; fetch the checkpoint again")
        return tensor

    def _rows(self, name: str, rows: Tensor) -> Tensor:
        return self._finite(name, self.reader.select(name, rows))

    def _check(self, path: str, sensitivity: Sensitivity) -> None:
        if not (torch.isfinite(sensitivity.diagonal).all() and torch.isfinite(sensitivity.correlation).all()):
            raise CheckpointError(f"the activations or gradients of {path} are not finite; try --dtype float32")

    def _save_border(self, name: str, borders: Sequence[Tensor]) -> None:
        border = torch.cat([part.cpu() for part in borders])
        if not torch.isfinite(border).all():
            raise CheckpointError(f"{name}: the activations are not finite; try --dtype float32")
        self._save(name, {"x": border})

    def _paths(self, layer: int | None) -> list[str]:
        return [matrix.path for matrix in self.matrices.get(layer, [])]

    def _sums(self, number: int, layer: int | None) -> dict[str, Sums]:
        """Those of the batches before, or zeros."""
        if number:
            held = self._load(_sums_name(number - 1, layer) + ("-whole" if layer is None else ""))
            return {
                path: Sums(*(held[f"{path}.{part}"].to(self.settings.device) for part in _PARTS))
                for path in self._paths(layer)
            }
        return {
            matrix.path: Sums.zeros(matrix.rows, matrix.columns, self.settings.device)
            for matrix in self.matrices.get(layer, [])
        }

    def _save_sums(self, number: int, layer: int | None, sums: dict[str, Sums]) -> None:
        self._save(_sums_name(number, layer), _flat(sums))
        if number > 1:
            self._discard(_sums_name(number - 2, layer))


FORMAT_OF_WORK = "calibration-work-1"
_PARTS = ("moments", "row_energy", "column_energy")


def _sums_name(number: int, layer: int | None) -> str:
    return f"sums-{'ends' if layer is None else layer}-{number}"


def _flat(sums: dict[str, Sums]) -> dict[str, Tensor]:
    return {f"{path}.{part}": getattr(of_path, part) for path, of_path in sums.items() for part in _PARTS}


def _watch(linear: nn.Module, path: str, seen: dict[str, tuple[Tensor, Tensor]]) -> Any:
    """Keep a linear map's input, and the gradient of its output once that is known."""
    assert isinstance(linear, Linear)

    def after(module: nn.Module, arguments: tuple[Tensor], output: Tensor) -> None:
        inputs = arguments[0].detach()

        def keep(gradient: Tensor) -> None:
            seen[path] = (inputs, gradient.detach())

        output.register_hook(keep)

    return linear.register_forward_hook(after)


class _Prompts:
    """Tokens, positions and places of the samples' answers, read back from the file."""

    def __init__(self, held: dict[str, Tensor]) -> None:
        self.lengths: list[int] = held["lengths"].tolist()
        self.starts: list[int] = held["starts"].tolist()
        self.kept: list[int] = held["kept"].tolist()
        self._tokens = held["tokens"].split(self.lengths)
        self._positions = held["positions"].split(self.lengths, 1)
        self.answer_tokens = sum(length - start for length, start in zip(self.lengths, self.starts, strict=True))

    def tokens(self, index: int) -> Tensor:
        return self._tokens[index]

    def positions(self, index: int) -> Tensor:
        return self._positions[index]
