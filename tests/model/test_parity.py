"""Our model against transformers' Qwen3_5ForConditionalGeneration on the same random weights."""

from __future__ import annotations

import copy
import dataclasses
import re
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.nn import functional as F

from forklift.checkpoint.config import ModelConfig, TextConfig, VisionConfig
from forklift.model import Model
from tests.model.references import (
    IMAGE,
    TOLERANCE,
    VISION_END,
    VISION_START,
    Example,
    Grid,
    all_logits,
    difference,
    example,
    random_reference,
    reference_model,
    small_config,
    twin,
)

EXAMPLES = {
    "two images": example(3, (1, 6, 8), 2, (1, 4, 10), 90),
    "image first and last": example((1, 10, 4), 70, (1, 2, 2)),
    "three images in a row": example((1, 2, 4), (1, 12, 2), (1, 8, 8), 1),
    "text": example(130),
    "one token": example(1),
    "nothing but an image, marks neither": Example(torch.full((6,), IMAGE), example((1, 4, 6)).patches, ((1, 4, 6),)),
}
READ = pytest.mark.parametrize("read", EXAMPLES.values(), ids=EXAMPLES.keys())


def reference_logits(reference: Any, read: Example, **options: Any) -> Tensor:
    with torch.no_grad():
        return reference(**read.for_reference(), use_cache=False, **options).logits[0]


@READ
def test_logits(reference: Any, model: Model, prepared: Model, read: Example) -> None:
    expected = reference_logits(reference, read)
    with torch.no_grad():
        assert difference(all_logits(model, read), expected) < TOLERANCE
        assert difference(all_logits(prepared, read), expected) < TOLERANCE
    for ours in (model, prepared):
        _, last = ours.prefill(read.token_ids, read.patches, read.grids)
        assert difference(last, expected[-1]) < TOLERANCE


def test_tied_embeddings() -> None:
    config = small_config(tied=True)
    reference = random_reference(config, seed=3)
    model = twin(reference, config)
    assert not hasattr(model, "lm_head")
    read = EXAMPLES["two images"]
    with torch.no_grad():
        assert difference(all_logits(model, read), reference_logits(reference, read)) < TOLERANCE


def test_one_linear_head_and_one_query_head_for_each_key_head() -> None:
    """Nothing to repeat; every element turns."""
    small = small_config()
    text = dataclasses.replace(
        small.text,
        num_query_heads=2,
        linear_num_value_heads=2,
        partial_rotary_factor=1.0,
        mrope_section=(6, 5, 5),
    )
    config = dataclasses.replace(small, text=text)
    reference = random_reference(config, seed=4)
    model = twin(reference, config)
    read = EXAMPLES["two images"]
    with torch.no_grad():
        assert difference(all_logits(model, read), reference_logits(reference, read)) < TOLERANCE


def test_a_long_text_in_pieces(reference: Any, prepared: Model) -> None:
    read = example(3000, seed=8)
    cache, last = prepared.prefill(read.token_ids, splits=[1, 1000, 1003, 2500])
    assert difference(last, reference_logits(reference, read, logits_to_keep=1)[0]) < TOLERANCE
    assert cache.length == cache.next_position == 3000


def test_preparing_changes_no_weight(model: Model, prepared: Model) -> None:
    """Maps that are joined for speed still hold their own part, which quantisers and writers read."""
    before, after = model.state_dict(), prepared.state_dict()
    assert before.keys() == after.keys()
    assert all(torch.equal(before[name], after[name]) for name in before)


# -- Positions


def assert_positions_agree(reference: Any, model: Model, read: Example) -> None:
    inputs = read.for_reference()
    inputs.pop("pixel_values", None)
    inputs.setdefault("mm_token_type_ids", torch.zeros_like(read.token_ids)[None])
    expected, deltas = reference.model.get_rope_index(**inputs)
    positions, following = model.positions(read.token_ids, read.grids)
    assert torch.equal(positions, expected[:, 0])
    assert following == read.token_ids.shape[0] + deltas.item()
    later, after = model.positions(read.token_ids, read.grids, start=1000)
    assert torch.equal(later, positions + 1000)
    assert after == following + 1000


@READ
def test_positions(reference: Any, model: Model, read: Example) -> None:
    assert_positions_agree(reference, model, read)


sides = st.integers(1, 12).map(lambda half: 2 * half)
pieces = st.one_of(st.integers(1, 9), st.tuples(st.just(1), sides, sides))


@settings(max_examples=60, deadline=None)
@given(st.lists(pieces, min_size=1, max_size=6))
def test_positions_of_any_text(reference: Any, model: Model, prompt: list[int | Grid]) -> None:
    assert_positions_agree(reference, model, example(*prompt))


def test_images_without_marks_between_them_are_told_apart_by_their_grids(model: Model) -> None:
    """The reference takes their tokens for one image; here each starts where the one before it ends."""
    ids = torch.tensor([7] + [IMAGE] * (2 + 2) + [8])
    positions, following = model.positions(ids, [(1, 2, 4), (1, 4, 2)])
    assert positions.tolist() == [
        [0, 1, 1, 3, 3, 5],  # time
        [0, 1, 1, 3, 4, 5],  # row
        [0, 1, 2, 3, 3, 5],  # column
    ]
    assert following == 6


# -- bfloat16


def relative_error(found: Tensor, expected: Tensor) -> float:
    return ((found.float() - expected).pow(2).mean() / expected.pow(2).mean()).sqrt().item()


def test_bfloat16_is_as_near_to_float32_as_the_reference_is(reference: Any, model: Model) -> None:
    """Nearer, in fact: the reference makes the same roundings to 8 bits and a few more in each linear layer.

    Both against float32 arithmetic on the rounded weights.
    """
    rounded = copy.deepcopy(model).bfloat16()
    exact = copy.deepcopy(rounded).float()
    theirs = copy.deepcopy(reference).bfloat16()
    rounded.prepare_for_inference()
    ours, of_reference = [], []
    for read in (EXAMPLES["two images"], example(300, seed=10), example(30, (1, 20, 26), 60, seed=11)):
        with torch.no_grad():
            expected = all_logits(exact, read)
            found = all_logits(rounded, read)
            assert found.dtype == torch.bfloat16
            ours.append(relative_error(found, expected))
            of_reference.append(relative_error(reference_logits(theirs, read), expected))
    # Three texts of some hundred tokens each settle the means to a few percent.
    assert sum(ours) < 0.95 * sum(of_reference)
    # Eleven layers of some twenty roundings by 2**-9 at most, independent of each other; no gain above two.
    assert max(ours) < 2 * 2**-9 * (11 * 20) ** 0.5
    # One token at a time takes other kernels, not more roundings.
    cache, _ = rounded.prefill(read.token_ids[:-50], read.patches, read.grids)
    steps = torch.cat([rounded.extend(cache, token[None]) for token in read.token_ids[-50:]])
    assert relative_error(steps, expected[-50:]) < 1.1 * relative_error(found[-50:], expected[-50:])


def test_small_tensors_may_stay_float32_in_a_bfloat16_model(model: Model) -> None:
    """As checkpoints are loaded: the layers compute with these in float32 anyway, so nothing changes."""
    rounded = copy.deepcopy(model).bfloat16()
    mixed = copy.deepcopy(rounded)
    for name, parameter in mixed.language.named_parameters():
        if name.endswith(("norm.weight", "A_log", "dt_bias")):
            parameter.data = parameter.data.float()
    with torch.no_grad():
        read = EXAMPLES["image first and last"]
        assert torch.equal(all_logits(mixed, read), all_logits(rounded, read))


# -- Gradients


def test_gradients(reference: Any, model: Model) -> None:
    """Of every tensor, vision tower included: the model that is trained is the reference's too."""
    read = EXAMPLES["two images"]
    targets = read.token_ids[1:]
    gradients: list[dict[int, Tensor]] = []
    tensors = list(model.parameters())  # the reference's own
    for logits in (
        lambda: all_logits(model, read),
        lambda: reference(**read.for_reference(), use_cache=False).logits[0],
    ):
        model.zero_grad()
        F.cross_entropy(logits()[:-1], targets).backward()
        gradients.append({id(tensor): tensor.grad.clone() for tensor in tensors if tensor.grad is not None})
    model.zero_grad()
    ours, theirs = gradients
    assert len(ours) == len(theirs) == len(tensors)
    for name, tensor in model.named_parameters():
        assert theirs[id(tensor)].abs().max() > 0, name
        # One more pass through all layers than the logits, and sums over all tokens.
        assert difference(ours[id(tensor)], theirs[id(tensor)]) < 10 * TOLERANCE, name


def test_gradients_through_a_cache(model: Model) -> None:
    """Reading in two passes trains the same as in one."""
    read = example(12, seed=12)
    positions, _ = model.positions(read.token_ids, ())
    results = []
    for split in ([12], [5, 7]):
        embedded = model.embed(read.token_ids, None, ()).detach().requires_grad_()
        cache = model.language.new_cache()
        hidden = torch.cat(
            [
                model.language(x[None], p, cache)[0]
                for x, p in zip(embedded.split(split), positions.split(split, 1), strict=True)
            ]
        )
        F.cross_entropy(model.logits(hidden)[:-1], read.token_ids[1:]).backward()
        results.append((hidden.detach(), embedded.grad))
    model.zero_grad()
    for whole, in_pieces in zip(*results, strict=True):
        assert whole is not None
        assert in_pieces is not None
        assert difference(in_pieces, whole) < 10 * TOLERANCE


def test_a_batch_is_its_rows(model: Model) -> None:
    texts = torch.stack([example(20, seed=seed).token_ids for seed in (13, 14)])
    positions, _ = model.positions(texts[0], ())
    with torch.no_grad():
        cache = model.language.new_cache()
        pieces = [
            model.language(model.language.embed_tokens(texts[:, start:end]), positions[:, start:end], cache)
            for start, end in ((0, 15), (15, 16), (16, 20))
        ]
        together = model.logits(torch.cat(pieces, 1))
        for row, text in enumerate(texts):
            assert difference(together[row], all_logits(model, Example(text))) < TOLERANCE


# -- Greedy continuation

NEW_TOKENS = 200


def test_greedy_continuation_is_transformers_generate(short_reference: Any, short_prepared: Model) -> None:
    """Token for token; the prompts are equally long, so that transformers can read them as a batch."""
    prompts = [
        example(6, (1, 6, 8), 20, (1, 8, 4), 10, seed=15),  # 12 and 8 tokens of images
        example(2, (1, 2, 24), 36, (1, 4, 4), 2, seed=16),  # 12 and 4
        example(1, (1, 12, 10), 27, seed=17),  # 30
    ]
    inputs = [prompt.for_reference() for prompt in prompts]
    batch = {name: torch.cat([x[name] for x in inputs]) for name in inputs[0]}
    with torch.no_grad():
        generated = short_reference.generate(
            **batch,
            attention_mask=torch.ones_like(batch["input_ids"]),
            max_new_tokens=NEW_TOKENS,
            do_sample=False,
            return_dict_in_generate=True,
            output_logits=True,
            pad_token_id=0,
        )
    expected = generated.sequences[:, batch["input_ids"].shape[1] :]
    best = torch.stack(generated.logits, 1).topk(2, -1).values
    # Otherwise rounding might decide; with these seeds it cannot.
    assert (best[..., 0] - best[..., 1]).min() > 2 * TOLERANCE * best.abs().max()
    for prompt, tokens in zip(prompts, expected.tolist(), strict=True):
        assert len(set(tokens)) > 20  # no loop that a state is not needed for
        cache, logits = short_prepared.prefill(prompt.token_ids, prompt.patches, prompt.grids)
        found = []
        for _ in range(NEW_TOKENS):
            found.append(int(logits.argmax()))
            logits = short_prepared.extend(cache, torch.tensor(found[-1:]))[0]
        assert found == tokens


# -- The widths of lift


def random_weights(reference: Any) -> dict[str, Tensor]:
    """For every parameter of a reference without storage; the layers' MLPs share theirs."""
    generator = torch.Generator().manual_seed(19)
    shared: dict[str, Tensor] = {}
    weights = {}
    for name, parameter in reference.named_parameters():
        drawn_as = re.sub(r"language_model\.layers\.\d+\.mlp", "mlp", name)
        if drawn_as not in shared:
            size = 0.5 if "conv1d" in name or parameter.dim() == 1 else 0.03
            shared[drawn_as] = torch.empty(parameter.shape).uniform_(-size, size, generator=generator)
            if name.endswith("A_log"):
                shared[drawn_as] = 6 * shared[drawn_as] - 2  # remember one token to some hundred
        weights[name] = shared[drawn_as]
    return weights


@pytest.mark.slow
def test_logits_at_the_widths_of_the_9b_model() -> None:
    """Four of its layers and one of its vision tower, with a short vocabulary; 1.8 GB of weights.

    The four MLPs share their tensors: that layers are not mixed up is for the small model to show.
    """
    text = TextConfig(
        vocabulary_size=2048,
        hidden_size=4096,
        intermediate_size=12288,
        layer_kinds=(*("linear_attention",) * 3, "full_attention"),
        num_query_heads=16,
        num_key_value_heads=4,
        head_dim=256,
        linear_num_key_heads=16,
        linear_num_value_heads=32,
        linear_key_head_dim=128,
        linear_value_head_dim=128,
    )
    vision = VisionConfig(
        depth=1,
        hidden_size=1152,
        intermediate_size=4304,
        num_heads=16,
        out_hidden_size=4096,
        num_position_embeddings=2304,
    )
    config = ModelConfig(text, vision, IMAGE, IMAGE + 1, VISION_START, VISION_END)
    with torch.device("meta"):
        reference = reference_model(config)
    reference.load_state_dict(random_weights(reference), assign=True)
    # Frequencies are in no checkpoint; made without storage, they have to be made again.
    language, visual = reference.model.language_model, reference.model.visual
    language.rotary_emb = type(language.rotary_emb)(language.config)
    visual.rotary_pos_emb = type(visual.rotary_pos_emb)(visual.config)
    model = twin(reference, config)
    read = example(12, (1, 6, 8), 50, seed=18)
    with torch.no_grad():
        assert difference(all_logits(model, read), reference_logits(reference, read)) < TOLERANCE
        cache, last = model.prefill(read.token_ids[:-9], read.patches, read.grids, splits=[17])
        found = torch.cat((last[None], model.extend(cache, read.token_ids[-9:])))
        assert difference(found[:-1], reference_logits(reference, read, logits_to_keep=10)[:-1]) < TOLERANCE
