"""One pass for several answers at once: weights are read once, each answer keeps its own state."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from forklift.model.attention import GatedAttention
from forklift.model.cache import AttentionState, Cache, DeltaState
from forklift.model.delta import GatedDeltaNet
from forklift.model.language import DecoderLayer
from forklift.model.model import Model
from forklift.model.rotary import text_rotation


@torch.inference_mode()
def extend_each(
    model: Model, caches: Sequence[Cache], token_ids: Sequence[Sequence[int]], drafts: Sequence[int]
) -> list[Tensor]:
    """Go on by text tokens in every cache, at least one in each; the last `draft` of them tentatively where that is
    not 0, as `Model.verify` does.

    Returns for each the logits [1 + draft, vocabulary], from its last certain token on. Equal to one pass each but for
    rounding. The tokens of all answers stand in one row; large products take the row whole, attention and the delta
    rule take each answer's part.
    """
    device = next(model.parameters()).device
    lengths = [len(ids) for ids in token_ids]
    flat = torch.tensor([token for ids in token_ids for token in ids], device=device)
    pieces = []
    for cache, length, draft in zip(caches, lengths, drafts, strict=True):
        if draft:
            cache.make_tentative(length - draft, draft)
        pieces.append(torch.arange(cache.next_position, cache.next_position + length, device=device))
    x = model.language.embed_tokens(flat)[None]
    rotation = text_rotation(model.language.config, torch.cat(pieces).expand(3, -1), x.dtype)
    for index, layer in enumerate(model.language.layers):
        assert isinstance(layer, DecoderLayer)
        normed = layer.input_layernorm(x)
        states = [cache.layers[index] for cache in caches]
        if layer.kind == "full_attention":
            x = x + _attend_each(layer.self_attn, normed, rotation, states, lengths)
        else:
            x = x + _mix_each(layer.linear_attn, normed, states, lengths)
        x = x + layer.mlp(layer.post_attention_layernorm(x))
    rows: list[int] = []
    end = 0
    for cache, length, draft in zip(caches, lengths, drafts, strict=True):
        cache.length += length
        cache.next_position += length
        end += length
        rows += range(end - draft - 1, end)
    # The head is the largest product of all: only the rows that are asked for.
    hidden = model.language.norm(x[0, rows])
    return list(model.logits(hidden).split([draft + 1 for draft in drafts]))


def _attend_each(
    attention: GatedAttention,
    x: Tensor,
    rotation: tuple[Tensor, Tensor],
    states: Sequence[AttentionState | DeltaState],
    lengths: Sequence[int],
) -> Tensor:
    query, gate, key, value = attention.project(x, rotation)
    outputs = []
    parts = zip(query.split(lengths, 2), key.split(lengths, 2), value.split(lengths, 2), states, strict=True)
    for one_query, one_key, one_value, state in parts:
        assert isinstance(state, AttentionState)
        outputs.append(attention.attend(one_query, *state.append(one_key, one_value)))
    return attention.project_out(torch.cat(outputs, 2), gate)


def _mix_each(
    mixer: GatedDeltaNet, x: Tensor, states: Sequence[AttentionState | DeltaState], lengths: Sequence[int]
) -> Tensor:
    projected = mixer.project(x)
    parts = list(zip(*(one.split(lengths, 1) for one in projected), strict=True))
    outputs: list[Tensor | None] = [None] * len(states)
    # Most answers go on by one token: those take one batched step of the recurrence.
    single = [i for i, state in enumerate(states) if lengths[i] == 1 and _is_certain(state)]
    if len(single) > 1:
        alike = [state for state in (states[i] for i in single) if isinstance(state, DeltaState)]
        joined = DeltaState(_joined([one.inputs for one in alike]), _joined([one.memory for one in alike]))
        mixed, output_gate, strength, rate = (torch.cat([parts[i][j] for i in single]) for j in range(4))
        together = mixer.mix(mixed, output_gate, strength, rate, joined)
        assert joined.inputs is not None
        assert joined.memory is not None
        for place, (i, own) in enumerate(zip(single, alike, strict=True)):
            outputs[i] = together[place : place + 1]
            # A view would keep the states of all alive as long as the last of them.
            own.inputs = joined.inputs[place : place + 1].clone()
            own.memory = joined.memory[place : place + 1].clone()
    for i, state in enumerate(states):
        if outputs[i] is None:
            assert isinstance(state, DeltaState)
            mixed, output_gate, strength, rate = parts[i]
            outputs[i] = mixer.mix(mixed, output_gate, strength, rate, state)
    return mixer.out_proj(torch.cat([output for output in outputs if output is not None], 1))


def _is_certain(state: AttentionState | DeltaState) -> bool:
    return isinstance(state, DeltaState) and not state.tentative and state.memory is not None


def _joined(tensors: Sequence[Tensor | None]) -> Tensor:
    return torch.cat([tensor for tensor in tensors if tensor is not None])
