"""The language model: a stack of linear- and full-attention layers over token and image embeddings."""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn import functional as F

from forklift.checkpoint.config import TextConfig
from forklift.model.attention import GatedAttention
from forklift.model.cache import AttentionState, Cache, DeltaState
from forklift.model.delta import GatedDeltaNet
from forklift.model.joined import JoinedLinear, join
from forklift.model.linear import Embedding, Linear
from forklift.model.norm import RMSNorm
from forklift.model.rotary import text_rotation

Rotation = tuple[Tensor, Tensor]


class GatedMLP(nn.Module):
    """down(silu(gate(x)) * up(x))."""

    def __init__(self, hidden_size: int, intermediate_size: int) -> None:
        super().__init__()
        self.gate_proj = Linear(hidden_size, intermediate_size)
        self.up_proj = Linear(hidden_size, intermediate_size)
        self.down_proj = Linear(intermediate_size, hidden_size)
        self._joined: JoinedLinear | None = None

    def prepare(self) -> None:
        """Join the small input maps; for inference, after loading."""
        self._joined = join(self.gate_proj, self.up_proj)

    def forward(self, x: Tensor) -> Tensor:
        gate, up = (self.gate_proj(x), self.up_proj(x)) if self._joined is None else self._joined(x)
        return self.down_proj(F.silu(gate) * up)


class DecoderLayer(nn.Module):
    """Mixer and MLP, each behind a norm and added to the stream. `kind` says which mixer."""

    def __init__(self, config: TextConfig, kind: str) -> None:
        super().__init__()
        self.kind = kind
        self.input_layernorm = RMSNorm(config.hidden_size, config.rms_norm_eps)
        if kind == "full_attention":
            self.self_attn = GatedAttention(config)
        else:
            self.linear_attn = GatedDeltaNet(config)
        self.post_attention_layernorm = RMSNorm(config.hidden_size, config.rms_norm_eps)
        self.mlp = GatedMLP(config.hidden_size, config.intermediate_size)

    def forward(self, x: Tensor, rotation: Rotation, state: AttentionState | DeltaState | None = None) -> Tensor:
        normed = self.input_layernorm(x)
        if self.kind == "full_attention":
            assert not isinstance(state, DeltaState)
            x = x + self.self_attn(normed, rotation, state)
        else:
            assert not isinstance(state, AttentionState)
            x = x + self.linear_attn(normed, state)
        return x + self.mlp(self.post_attention_layernorm(x))


class LanguageModel(nn.Module):
    """Embeddings [batch, tokens, hidden] -> hidden states of the same shape, normed, ready for the head."""

    def __init__(self, config: TextConfig) -> None:
        super().__init__()
        self.config = config
        self.embed_tokens = Embedding(config.vocabulary_size, config.hidden_size)
        self.layers = nn.ModuleList(DecoderLayer(config, kind) for kind in config.layer_kinds)
        self.norm = RMSNorm(config.hidden_size, config.rms_norm_eps)

    def forward(self, x: Tensor, positions: Tensor, cache: Cache | None = None) -> Tensor:
        """positions: [3, tokens], the same for the whole batch. Advances `cache` by `tokens` when given."""
        rotation = text_rotation(self.config, positions, x.dtype)
        for index, layer in enumerate(self.layers):
            x = layer(x, rotation, None if cache is None else cache.layers[index])
        if cache is not None:
            cache.length += x.shape[1]
        return self.norm(x)

    def new_cache(self) -> Cache:
        return Cache(
            [AttentionState() if kind == "full_attention" else DeltaState() for kind in self.config.layer_kinds]
        )
