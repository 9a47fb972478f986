"""Calibration: what it measures, and that nothing disturbs it."""

from __future__ import annotations

import hashlib
import json
import shutil
from itertools import pairwise
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch.nn import functional as F

from forklift.checkpoint.config_reader import read_config
from forklift.checkpoint.load import load_model
from forklift.checkpoint.tensors import TensorReader
from forklift.errors import CheckpointError, UsageError
from forklift.quantize.answer_source import labelled_samples
from forklift.quantize.calibration_file import read_calibration
from forklift.quantize.fingerprint import model_fingerprint
from forklift.quantize.levels import language_matrices
from forklift.quantize.plan import WIDTHS
from forklift.quantize.samples import answer_text, folder_samples
from forklift.quantize.sensitivity import Sums, block_size, finish
from forklift.schema import Schema
from tests.quantize.conftest import SCHEMA, run_calibrate, write_folder


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_every_matrix_gets_losses_that_fall_with_the_width(calibration_path: Path, checkpoint: Path) -> None:
    calibration = read_calibration(calibration_path)
    matrices = language_matrices(read_config(checkpoint))
    assert set(calibration.losses) == {matrix.path for matrix in matrices}
    for losses in calibration.losses.values():
        assert len(losses) == len(WIDTHS)
        assert all(after < before for before, after in pairwise(losses))
    assert calibration.facts["samples"] == 3
    assert not calibration_path.with_name(f"{calibration_path.name}.partial").exists()


def test_the_expected_loss_is_about_the_measured_one(
    calibration_path: Path, checkpoint: Path, documents: Path, tmp_path: Path
) -> None:
    # Small random changes of one matrix, on the very samples of the calibration: half the second derivative.
    calibration = read_calibration(calibration_path)
    samples, answers, prompter = labelled_samples(checkpoint, documents, None, None, scratch=tmp_path)
    model = load_model(checkpoint, torch.float32)
    parameters = dict(model.named_parameters())

    def log_probabilities() -> torch.Tensor:
        found = []
        for sample, answer in zip(samples, answers, strict=True):
            prompt = sample.prompt(prompter)
            ids = torch.tensor([*prompt.token_ids, *answer[:-1]])
            with torch.inference_mode():
                embedded = model.embed(ids, prompt.patches, prompt.grids)
                hidden = model.language(embedded[None], model.positions(ids, prompt.grids)[0])[0]
                found.append(model.logits(hidden[len(prompt.token_ids) - 1 :]).double().log_softmax(-1))
        return torch.cat(found)

    before = log_probabilities()
    ratios = []
    for path in ("lm_head", "language.layers.1.mlp.down_proj", "language.layers.0.linear_attn.out_proj"):
        sensitivity = calibration.sensitivity(path)
        weight = parameters[f"{path}.weight"]
        original = weight.detach().clone()
        for seed in range(4):
            change = 1e-3 * torch.randn(original.shape, generator=torch.Generator().manual_seed(seed))
            weight.data.copy_(original + change)
            after = log_probabilities()
            weight.data.copy_(original)
            measured = float((before.exp() * (before - after)).sum(-1).mean())
            root = change.unflatten(-1, (-1, sensitivity.moments.shape[-1])).transpose(0, 1)
            cost = ((root @ sensitivity.moments) * root).sum((0, 2))
            ratios.append(float((cost * sensitivity.row_weights).sum()) / measured)
    # A few samples give a rough figure; a wrong factor of 2 or of the number of tokens would be far outside.
    assert 0.6 < sum(ratios) / len(ratios) < 1.6, ratios
    assert all(0.3 < ratio < 3 for ratio in ratios), ratios


@pytest.mark.parametrize("stop_after", [3, 6])
def test_an_interrupted_calibration_goes_on_to_the_same_file(
    checkpoint: Path, documents: Path, calibration_path: Path, tmp_path: Path, stop_after: int
) -> None:
    class Stop(Exception):
        pass

    steps = 0

    def stop(done: float, total: float, label: str) -> None:
        nonlocal steps
        steps += 1
        if steps > stop_after:
            raise Stop

    path = tmp_path / calibration_path.name
    with pytest.raises(Stop):
        run_calibrate(checkpoint, documents, path, on_step=stop)
    assert not path.exists()
    run_calibrate(checkpoint, documents, path)
    assert digest(path) == digest(calibration_path)


def test_batches_through_a_small_scratch_space_change_nothing(
    checkpoint: Path, documents: Path, calibration_path: Path, tmp_path: Path
) -> None:
    path = tmp_path / "batched.safetensors"
    run_calibrate(checkpoint, documents, path, scratch_bytes=200_000)
    whole, batched = load_file(calibration_path), load_file(path)
    assert whole.keys() == batched.keys()
    for name, tensor in whole.items():
        torch.testing.assert_close(batched[name], tensor, rtol=2e-3, atol=2e-3 * float(tensor.abs().max()))


def test_another_seed_is_another_measurement(
    checkpoint: Path, documents: Path, calibration_path: Path, tmp_path: Path
) -> None:
    path = tmp_path / "seed.safetensors"
    run_calibrate(checkpoint, documents, path, seed=1)
    path_losses = read_calibration(path).losses["language.layers.0.mlp.up_proj"]
    assert path_losses != read_calibration(calibration_path).losses["language.layers.0.mlp.up_proj"]


def test_tied_embeddings_count_as_input_and_as_head(tied_checkpoint: Path, documents: Path, tmp_path: Path) -> None:
    path = tmp_path / "tied.safetensors"
    run_calibrate(tied_checkpoint, documents, path)
    calibration = read_calibration(path)
    assert "lm_head" not in calibration.losses
    rows = calibration.sensitivity("language.embed_tokens").row_weights
    assert int((rows > 0).sum()) == 320  # every row is a logit


def test_nan_in_a_layer_is_named(checkpoint: Path, documents: Path, tmp_path: Path) -> None:
    tensors = load_file(checkpoint / "model.safetensors")
    tensors["language_model.model.layers.1.mlp.up_proj.weight"][3, 3] = float("nan")
    broken = tmp_path / "broken"
    shutil.copytree(checkpoint, broken)
    save_file(tensors, broken / "model.safetensors")
    with pytest.raises(CheckpointError, match=r"layers\.1\.mlp\.up_proj\.weight holds NaN"):
        run_calibrate(broken, documents, tmp_path / "c.safetensors")


def test_the_fingerprint_tells_weights_and_shapes_apart(
    checkpoint: Path, tied_checkpoint: Path, tmp_path: Path
) -> None:
    def of(folder: Path) -> str:
        return model_fingerprint(TensorReader(folder, read_config(folder)))

    tensors = load_file(checkpoint / "model.safetensors")
    tensors["language_model.lm_head.weight"] += 1
    changed = tmp_path / "changed"
    shutil.copytree(checkpoint, changed)
    save_file(tensors, changed / "model.safetensors")
    assert of(checkpoint) == of(checkpoint)
    assert len({of(checkpoint), of(changed), of(tied_checkpoint)}) == 3


def test_a_calibration_of_another_model_is_refused(calibration_path: Path, tied_checkpoint: Path) -> None:
    reader = TensorReader(tied_checkpoint, read_config(tied_checkpoint))
    with pytest.raises(UsageError, match="another model"):
        read_calibration(calibration_path).check_model(model_fingerprint(reader))


def test_what_is_no_calibration_says_so(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="forklift calibrate"):
        read_calibration(tmp_path / "none.safetensors")
    (tmp_path / "junk.safetensors").write_bytes(b"junk")
    with pytest.raises(CheckpointError, match="no calibration"):
        read_calibration(tmp_path / "junk.safetensors")
    save_file({"x": torch.zeros(1)}, tmp_path / "other.safetensors")
    with pytest.raises(CheckpointError, match="calibrate again"):
        read_calibration(tmp_path / "other.safetensors")


def test_documents_too_long_for_the_model_are_refused_with_their_length(
    small_config: object, small_tensors: object, documents: Path, tmp_path: Path
) -> None:
    from dataclasses import replace

    config = replace(small_config, text=replace(small_config.text, max_positions=40))  # type: ignore[type-var, attr-defined]
    write_folder(tmp_path / "short", config, small_tensors)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match=r"at most 40"):
        run_calibrate(tmp_path / "short", documents, tmp_path / "c.safetensors")


# Samples


def test_answers_are_spelled_in_the_order_of_the_schema_with_nulls() -> None:
    from forklift.decoding.grammar import COMPACT, SPACED

    schema = Schema.load(
        {
            "type": "object",
            "properties": {
                "vendor": {"type": "string"},
                "lines": {"type": "array", "items": {"$ref": "#/$defs/line"}},
                "paid": {"type": "boolean"},
            },
            "$defs": {
                "line": {"type": "object", "properties": {"n": {"type": "integer"}, "price": {"type": "number"}}}
            },
        }
    )
    gold = '{"lines": [{"price": 12.50, "n": 2}, {"n": 1}], "vendor": "Köhler \\"&\\" Co"}'
    spaced = (
        '{"vendor": "Köhler \\"&\\" Co", "lines": [{"n": 2, "price": 12.50}, {"n": 1, "price": null}], "paid": null}'
    )
    assert answer_text(gold, schema, SPACED) == spaced
    assert json.loads(answer_text(gold, schema, COMPACT)) == json.loads(spaced)


def test_a_folder_gives_its_documents_by_name(documents: Path, tmp_path: Path) -> None:
    samples = folder_samples(documents, None, limit=2, first=1)
    assert [sample.path.name for sample in samples] == ["1.png", "2.png"]
    assert samples[0].gold == {"total": 1.5, "vendor": "Acme"}
    (tmp_path / "a.png").write_bytes((documents / "0.png").read_bytes())
    with pytest.raises(UsageError, match="schema"):
        folder_samples(tmp_path, None)
    assert folder_samples(tmp_path, Schema.load(SCHEMA))[0].gold is None
    with pytest.raises(UsageError, match="1 documents"):
        folder_samples(tmp_path, Schema.load(SCHEMA), first=1)
    with pytest.raises(UsageError, match="no such folder"):
        folder_samples(tmp_path / "none", None)


def test_without_gold_the_model_answers_itself(checkpoint: Path, documents: Path, tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes((documents / "0.png").read_bytes())
    schema = '{"type": "object", "properties": {"paid": {"type": "boolean"}}}'
    _, answers, prompter = labelled_samples(checkpoint, tmp_path, schema, None, scratch=tmp_path / "scratch")
    text = b"".join(map(prompter.decode_token, answers[0])).decode()
    assert json.loads(text)["paid"] in (True, False, None)
    assert answers[0][-1] == prompter.tokenizer.token_to_id("<|im_end|>")


# Statistics


@pytest.mark.parametrize(
    ("columns", "size"), [(64, 64), (1024, 1024), (4096, 512), (12288, 512), (1088, 64), (1152, 384)]
)
def test_blocks_are_whole_groups_and_divide_the_columns(columns: int, size: int) -> None:
    assert block_size(columns) == size


def test_one_sample_of_one_token_is_the_outer_product() -> None:
    sums = Sums.zeros(3, 64)
    inputs, gradients = torch.randn(1, 64), torch.randn(1, 3)
    sums.add(inputs, gradients)
    sensitivity = finish(sums, answer_tokens=1)
    # For one token every row's cost is exact: g ** 2 (x . dw) ** 2 / 2.
    change = torch.randn(3, 64)
    exact = 0.5 * float((gradients[0] * (change * inputs).sum(1)).square().sum())
    cost = (change @ sensitivity.moments[0] * change).sum(1)
    assert float((cost * sensitivity.row_weights).sum()) == pytest.approx(exact, rel=1e-2)


def test_errors_that_add_up_over_tokens_count_as_their_sum() -> None:
    together, apart = Sums.zeros(2, 64), Sums.zeros(2, 64)
    inputs, gradients = torch.randn(64), torch.randn(2)
    together.add(inputs.expand(8, -1), gradients.expand(8, -1))
    for _ in range(8):
        apart.add(inputs[None], gradients[None])
    ratio = finish(together, 1).diagonal / finish(apart, 1).diagonal
    torch.testing.assert_close(ratio, torch.full_like(ratio, 8.0))


def test_lookups_of_one_row_weigh_that_row() -> None:
    sums = Sums.zeros(10, 64)
    sums.add_lookups(torch.tensor([3, 3, 5]), torch.randn(3, 64))
    weights = finish(sums, 1, seen_rows_only=True).row_weights
    assert float(weights.mean()) == pytest.approx(1.0, rel=1e-5)
    assert float(weights[3] + weights[5]) > 9
    assert float(weights[0]) == pytest.approx(0.1)


def test_the_head_expects_what_many_draws_give() -> None:
    torch.manual_seed(0)
    inputs, probabilities = torch.randn(4, 64), torch.randn(4, 12).softmax(-1)
    expected, drawn = Sums.zeros(12, 64), Sums.zeros(12, 64)
    expected.add_head(inputs, probabilities)
    draws = 4000
    for _ in range(draws):
        noise = torch.randn(4, 12) * probabilities.sqrt()
        seeds = noise - probabilities * (noise * probabilities.sqrt()).sum(-1, keepdim=True)
        drawn.add(inputs, seeds)
    torch.testing.assert_close(drawn.row_energy / draws, expected.row_energy, rtol=0.15, atol=0.02)
    torch.testing.assert_close(drawn.moments / draws, expected.moments, rtol=0.3, atol=0.3)
    assert F.mse_loss(drawn.moments / draws, expected.moments) < 0.01
