"""Full attention with grouped heads and an output gate."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from forklift.checkpoint.config import TextConfig
from forklift.model.cache import AttentionState
from forklift.model.joined import JoinedLinear, join
from forklift.model.linear import Linear
from forklift.model.norm import RMSNorm
from forklift.model.rotary import rotate

# Up to this many new tokens, products over grouped heads beat the fused kernel.
_FEW_TOKENS = 16


class GatedAttention(nn.Module):
    """The full-attention layer's mixer, [batch, tokens, hidden] -> same.

    q_proj holds, head by head, the query and then the gate; the attention output is multiplied by sigmoid(gate).
    """

    def __init__(self, config: TextConfig) -> None:
        super().__init__()
        self.heads = config.num_query_heads
        self.key_value_heads = config.num_key_value_heads
        self.head_dim = config.head_dim
        self.q_proj = Linear(config.hidden_size, self.heads * self.head_dim * 2)
        self.k_proj = Linear(config.hidden_size, self.key_value_heads * self.head_dim)
        self.v_proj = Linear(config.hidden_size, self.key_value_heads * self.head_dim)
        self.o_proj = Linear(self.heads * self.head_dim, config.hidden_size)
        self.q_norm = RMSNorm(self.head_dim, config.rms_norm_eps)
        self.k_norm = RMSNorm(self.head_dim, config.rms_norm_eps)
        self._joined: JoinedLinear | None = None

    def prepare(self) -> None:
        """Join the small input maps; for inference, after loading."""
        self._joined = join(self.q_proj, self.k_proj, self.v_proj)

    def project(self, x: Tensor, rotation: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Rotated queries [batch, heads, tokens, head_dim]; gate [batch, tokens, heads * head_dim]; rotated keys and
        values [batch, key_value_heads, tokens, head_dim]."""
        if self._joined is not None:
            query, key, value = self._joined(x)
        else:
            query, key, value = self.q_proj(x), self.k_proj(x), self.v_proj(x)
        query, gate = query.unflatten(-1, (self.heads, 2 * self.head_dim)).chunk(2, -1)
        query = rotate(self.q_norm(query).transpose(1, 2), *rotation)
        key = self.k_norm(key.unflatten(-1, (self.key_value_heads, self.head_dim)))
        key = rotate(key.transpose(1, 2), *rotation)
        value = value.unflatten(-1, (self.key_value_heads, self.head_dim)).transpose(1, 2)
        return query, gate.flatten(2), key, value

    def forward(self, x: Tensor, rotation: tuple[Tensor, Tensor], state: AttentionState | None = None) -> Tensor:
        """rotation: cos and sin [tokens, rotary_dim] of these tokens. Appends to `state` when given."""
        query, gate, key, value = self.project(x, rotation)
        if state is not None:
            key, value = state.append(key, value)
        return self.combine(query, gate, key, value)

    def combine(self, query: Tensor, gate: Tensor, key: Tensor, value: Tensor) -> Tensor:
        """Attend causally (the queries are the last of the keys' tokens), gate, project: [batch, tokens, hidden]."""
        return self.project_out(self.attend(query, key, value), gate)

    def project_out(self, output: Tensor, gate: Tensor) -> Tensor:
        """Gate what `attend` gives, and project: [batch, tokens, hidden]."""
        return self.o_proj(output.transpose(1, 2).flatten(2) * torch.sigmoid(gate))

    def attend(self, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        """Causal attention of the queries, the last of the keys' tokens: [batch, heads, tokens, head_dim]."""
        tokens, total = query.shape[2], key.shape[2]
        repeats = self.heads // self.key_value_heads
        # Products over grouped heads need no repeated keys; on CPU their backward pass also beats the fused one.
        differentiable = query.requires_grad and query.device.type == "cpu"
        if (tokens <= _FEW_TOKENS and total > tokens) or differentiable:
            grouped = query.unflatten(1, (self.key_value_heads, repeats)).flatten(2, 3)
            scores = (grouped * self.head_dim**-0.5) @ key.transpose(-1, -2)
            if tokens > 1:
                hidden = torch.ones(tokens, total, dtype=torch.bool, device=query.device).triu(total - tokens + 1)
                scores = scores.masked_fill(hidden.repeat(repeats, 1), float("-inf"))
            output = scores.softmax(-1) @ value
            return output.unflatten(2, (repeats, tokens)).flatten(1, 2)
        if repeats > 1:
            key, value = key.repeat_interleave(repeats, 1), value.repeat_interleave(repeats, 1)
        if total == tokens:
            return F.scaled_dot_product_attention(query, key, value, is_causal=tokens > 1)
        visible = torch.ones(tokens, total, dtype=torch.bool, device=query.device).tril(total - tokens)
        return F.scaled_dot_product_attention(query, key, value, attn_mask=visible)
