"""What the language model remembers of the tokens it has seen: keys and values, or a fixed-size recurrent state."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

# Rows that a key/value buffer grows by at least; doubling keeps the cost of copying a constant share.
_MIN_GROWTH = 256


class AttentionState:
    """Keys and values of one full-attention layer, [batch, heads, tokens, head_dim], in a buffer that grows.

    A snapshot shares the buffer: rows below its length never change, rows above it are overwritten by whoever
    extends. So after a roll-back to a snapshot, the state that was rolled back must not be used again; `fork`
    copies for two continuations that live side by side.
    """

    __slots__ = ("_keys", "_values", "length")

    def __init__(self) -> None:
        self._keys: Tensor | None = None
        self._values: Tensor | None = None
        self.length = 0

    def append(self, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Add [batch, heads, n, head_dim]; returns views of all keys and values so far."""
        start, end = self.length, self.length + keys.shape[2]
        if torch.is_grad_enabled() and keys.requires_grad:  # a graph must not see its inputs overwritten
            if self._keys is not None and self._values is not None:
                keys = torch.cat((self._keys[:, :, :start], keys), 2)
                values = torch.cat((self._values[:, :, :start], values), 2)
            self._keys, self._values, self.length = keys, values, end
            return keys, values
        if self._keys is None or self._values is None or self._keys.shape[2] < end:
            self._grow(keys, end)
        assert self._keys is not None
        assert self._values is not None
        self._keys[:, :, start:end] = keys
        self._values[:, :, start:end] = values
        self.length = end
        return self._keys[:, :, :end], self._values[:, :, :end]

    def snapshot(self) -> AttentionState:
        copy = AttentionState()
        copy._keys, copy._values, copy.length = self._keys, self._values, self.length
        return copy

    def fork(self) -> AttentionState:
        copy = self.snapshot()
        if self._keys is not None and self._values is not None:
            copy._keys = self._keys[:, :, : self.length].clone()
            copy._values = self._values[:, :, : self.length].clone()
        return copy

    @property
    def nbytes(self) -> int:
        """Of its buffers, spare rows included."""
        return sum(buffer.nbytes for buffer in (self._keys, self._values) if buffer is not None)

    def _grow(self, like: Tensor, needed: int) -> None:
        batch, heads, _, head_dim = like.shape
        capacity = max(needed + _MIN_GROWTH, 2 * self.length)
        for name in ("_keys", "_values"):
            old: Tensor | None = getattr(self, name)
            new = like.new_empty(batch, heads, capacity, head_dim)
            if old is not None:
                new[:, :, : self.length] = old[:, :, : self.length]
            setattr(self, name, new)


@dataclass(slots=True)
class PendingTokens:
    """What the tokens of a tentative pass would do to a linear layer's state.

    inputs: of the convolution, those before the pass included, [batch, kernel_size - 1 + tokens, channels].
    keys: [batch, heads, tokens, key_dim]; corrections: what each token writes under its key, [batch, heads, tokens,
    value_dim]; decays: sums of the log decays up to each token, [batch, heads, tokens]. All but inputs float32.
    """

    inputs: Tensor
    keys: Tensor
    corrections: Tensor
    decays: Tensor


@dataclass(slots=True)
class DeltaState:
    """The state of one linear-attention layer. Its tensors are replaced, never changed in place.

    inputs: the last kernel_size - 1 inputs of the convolution, [batch, kernel_size - 1, channels].
    memory: float32 [batch, value_heads, key_dim, value_dim].
    tentative: the next pass leaves the state as it is and its tokens in `pending`, for `keep`.
    """

    inputs: Tensor | None = None
    memory: Tensor | None = None
    tentative: bool = False
    pending: PendingTokens | None = None

    def keep(self, count: int) -> None:
        """Take the first `count` pending tokens into the state and drop the others."""
        pending = self.pending
        assert pending is not None, "no tentative pass to keep tokens of"
        self.tentative, self.pending = False, None
        if count == 0:
            return
        kept = pending.inputs.shape[1] - pending.keys.shape[2]
        self.inputs = pending.inputs[:, count : count + kept]
        # A token corrects what the tokens before it left, so later tokens change nothing about its correction.
        total = pending.decays[..., count - 1 : count]
        weights = (total - pending.decays[..., :count]).exp().unsqueeze(-1)
        written = (pending.keys[:, :, :count] * weights).transpose(-1, -2) @ pending.corrections[:, :, :count]
        self.memory = written if self.memory is None else torch.addcmul(written, self.memory, total.exp()[..., None])

    def snapshot(self) -> DeltaState:
        assert self.pending is None, "a snapshot in the middle of a tentative pass"
        return DeltaState(self.inputs, self.memory)

    fork = snapshot

    @property
    def nbytes(self) -> int:
        return sum(tensor.nbytes for tensor in (self.inputs, self.memory) if tensor is not None)


@dataclass(slots=True)
class Cache:
    """The states of all layers.

    length: tokens seen. next_position: the rotary position of the next text token (an image of h x w tokens moves
    it by max(h, w) only).
    """

    layers: list[AttentionState | DeltaState]
    length: int = 0
    next_position: int = 0
    _certain: int = 0  # of a tentative pass: its tokens before the draft, and those of the draft
    _draft: int = 0

    def make_tentative(self, certain: int, draft: int) -> None:
        """Let the next pass read `certain` text tokens and a draft of `draft` more; `keep` must follow it."""
        self._certain, self._draft = certain, draft
        for layer in self.layers:
            if isinstance(layer, DeltaState):
                layer.tentative = True

    def keep(self, count: int) -> None:
        """Keep the first `count` tokens of the draft, as if the last pass had read no further.

        Costs no second pass: a row of attention is forgotten by its number, and the linear layers wrote nothing yet.
        """
        dropped = self._draft - count
        for layer in self.layers:
            if isinstance(layer, DeltaState):
                layer.keep(self._certain + count)
            else:
                layer.length -= dropped
        self.length -= dropped
        self.next_position -= dropped

    def snapshot(self) -> Cache:
        """A point to roll back to, at the cost of a few references; see AttentionState for its one rule."""
        return Cache([layer.snapshot() for layer in self.layers], self.length, self.next_position)

    def restore(self, earlier: Cache) -> None:
        """Become what `earlier`, a snapshot of this cache, was; `earlier` must not be used again."""
        self.layers, self.length, self.next_position = earlier.layers, earlier.length, earlier.next_position

    def fork(self) -> Cache:
        """An independent copy, for two continuations that live side by side."""
        return Cache([layer.fork() for layer in self.layers], self.length, self.next_position)

    @property
    def nbytes(self) -> int:
        """Of all its tensors; those that a snapshot shares count for each."""
        return sum(layer.nbytes for layer in self.layers)
