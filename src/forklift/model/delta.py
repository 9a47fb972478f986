"""Gated DeltaNet: linear attention whose memory is corrected, not only added to.

For each value head a matrix S [key_dim, value_dim] is kept. A token with key k, value v, query q, decay exp(g) and
strength beta does   S <- exp(g) S;   S <- S + k (beta (v - S^T k))^T;   out = S^T q.
`recurrent_delta_rule` does this token by token; `chunked_delta_rule` does whole chunks by matrix products.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from forklift.checkpoint.config import TextConfig
from forklift.model.cache import DeltaState, PendingTokens
from forklift.model.joined import JoinedLinear, join
from forklift.model.linear import Linear
from forklift.model.norm import GatedRMSNorm

# Tokens per chunk. Work inside a chunk grows with its square, steps between chunks fall with it: 32 and 64 are equal
# in training and 16 is a third slower, docs/log.md.
CHUNK_SIZE = 64


def recurrent_delta_rule(
    query: Tensor, key: Tensor, value: Tensor, decay: Tensor, beta: Tensor, memory: Tensor
) -> tuple[Tensor, Tensor]:
    """One token after the other; the cheapest form for one or two tokens.

    All float32. query, key: [batch, tokens, heads, key_dim], normalised and scaled; value: [batch, tokens, heads,
    value_dim]; decay (log, <= 0), beta: [batch, tokens, heads]; memory: [batch, heads, key_dim, value_dim].
    Returns the outputs, shaped as value, and the new memory (a new tensor).
    """
    outputs = []
    keep, beta = decay.exp(), beta.unsqueeze(-1)
    both = torch.stack((key, query), -2)  # [batch, tokens, heads, 2, key_dim]: one product reads the memory for both
    match = (query * key).sum(-1, keepdim=True)
    for t in range(query.shape[1]):
        memory = memory * keep[:, t, :, None, None]
        found, read = (both[:, t] @ memory).unbind(-2)
        correction = (value[:, t] - found) * beta[:, t]
        outputs.append(torch.addcmul(read, match[:, t], correction))
        memory = torch.addcmul(memory, key[:, t].unsqueeze(-1), correction.unsqueeze(-2))
    return torch.stack(outputs, 1), memory


def chunked_delta_rule(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    decay: Tensor,
    beta: Tensor,
    memory: Tensor | None,
    chunk_size: int = CHUNK_SIZE,
) -> tuple[Tensor, Tensor]:
    """The same as `recurrent_delta_rule`, many tokens at a time; memory None is all zeros.

    Within a chunk, the corrections u of all tokens solve one unit lower triangular system (I + A) u = beta (v - ...),
    A[i, j] = beta_i k_i . k_j exp(g_j+1 + ... + g_i); only the memory's hand-over from chunk to chunk is sequential.
    """
    tokens = query.shape[1]
    size = min(chunk_size, tokens)
    padding = -tokens % size
    if padding:  # a padded token has beta 0 and decay 1: it leaves the memory alone
        query, key, value = (F.pad(x, (0, 0, 0, 0, 0, padding)) for x in (query, key, value))
        decay, beta = (F.pad(x, (0, 0, 0, padding)) for x in (decay, beta))
    query, key, value, decay, beta = (by_chunk(x, size) for x in (query, key, value, decay, beta))
    output, memory = scan_chunks(*within_chunks(query, key, value, decay, beta), memory)
    return output[:, :tokens], memory


def tentative_delta_rule(
    query: Tensor, key: Tensor, value: Tensor, decay: Tensor, beta: Tensor, memory: Tensor | None
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The outputs of a few tokens without the memory after them: one chunk of `chunked_delta_rule`.

    Returns the outputs and what `PendingTokens` holds: keys, corrections and summed decays.
    """
    query, key, value = query.transpose(1, 2), key.transpose(1, 2), value.transpose(1, 2)
    decays, beta = decay.transpose(1, 2).cumsum(-1), beta.transpose(1, 2).unsqueeze(-1)
    # Masked before exp: the upper triangle holds positive sums that overflow.
    between = (decays.unsqueeze(-1) - decays.unsqueeze(-2)).tril().exp().tril()
    grown = decays.exp().unsqueeze(-1)
    rows = key.transpose(-1, -2)
    wanted = value if memory is None else torch.addcmul(value, grown, key @ memory, value=-1)
    system = (key @ rows) * between * beta
    corrections = torch.linalg.solve_triangular(system, wanted * beta, upper=False, unitriangular=True)
    output = (query @ rows * between) @ corrections
    if memory is not None:
        output = torch.addcmul(output, grown, query @ memory)
    return output.transpose(1, 2), key, corrections, decays


def by_chunk(x: Tensor, size: int) -> Tensor:
    """[batch, tokens, heads, ...] -> [batch, heads, chunks, size, ...]; size divides tokens."""
    return x.unflatten(1, (-1, size)).movedim(3, 1)


def scan_chunks(
    system: Tensor,
    sources: Tensor,
    within: Tensor,
    reading: Tensor,
    writing: Tensor,
    kept: Tensor,
    memory: Tensor | None,
) -> tuple[Tensor, Tensor]:
    """Solve every chunk, then hand the memory on from chunk to chunk. Takes what `within_chunks` returns.

    Returns [batch, tokens, heads, value_dim] and the memory after the last chunk.
    """
    solved = torch.linalg.solve_triangular(system, sources, upper=False, unitriangular=True)
    key_dim = reading.shape[-1]
    own, seen = solved.split((solved.shape[-1] - key_dim, key_dim), -1)
    outputs = []
    for own_c, seen_c, reading_c, within_c, writing_c, kept_c in zip(
        *(x.unbind(2) for x in (own, seen, reading, within, writing, kept)), strict=True
    ):
        correction = own_c if memory is None else own_c - seen_c @ memory
        output = within_c @ correction
        outputs.append(output if memory is None else output + reading_c @ memory)
        written = writing_c @ correction
        memory = written if memory is None else memory * kept_c + written
    assert memory is not None
    return torch.stack(outputs, 2).movedim(1, 3).flatten(1, 2), memory


def within_chunks(
    query: Tensor, key: Tensor, value: Tensor, decay: Tensor, beta: Tensor
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]:
    """What does not depend on the memory, for all chunks at once; inputs [batch, heads, chunks, size, ...].

    Returns the triangular system [.., size, size] and its right-hand sides [.., size, value_dim + key_dim]; how the
    outputs read the chunk [.., size, size] and the memory [.., size, key_dim]; how the corrections are written
    [.., key_dim, size] and how much of the memory is kept [.., 1, 1].
    """
    size = query.shape[-2]
    total = decay.cumsum(-1)
    later = torch.ones(size, size, dtype=torch.bool, device=query.device).triu(1)
    # Masked before exp: the upper triangle holds positive sums that overflow.
    between = (total.unsqueeze(-1) - total.unsqueeze(-2)).masked_fill(later, float("-inf")).exp()
    weighted_key = key * beta.unsqueeze(-1)
    key_rows = key.transpose(-1, -2)
    return (
        (weighted_key @ key_rows) * between,
        torch.cat((value * beta.unsqueeze(-1), weighted_key * total.exp().unsqueeze(-1)), -1),
        (query @ key_rows) * between,
        query * total.exp().unsqueeze(-1),
        (key * (total[..., -1:] - total).exp().unsqueeze(-1)).transpose(-1, -2),
        total[..., -1].exp()[..., None, None],
    )


def causal_convolution(x: Tensor, weight: Tensor) -> Tensor:
    """Depthwise convolution along time: y[t] = sum_j weight[:, j] x[t + j].

    x: [batch, tokens + kernel_size - 1, channels]; weight: [channels, kernel_size]. Returns [batch, tokens, channels],
    bfloat16 x and float32 weight giving float32: in bfloat16 seven roundings would stand where a convolution has one.
    Shifted products: on CPU several times faster than a grouped conv1d, which works along rows.
    """
    kernel_size = weight.shape[1]
    tokens = x.shape[1] - kernel_size + 1
    if tokens == 1:
        return (x * weight.t()).sum(1, keepdim=True)
    output = x[:, :tokens] * weight[:, 0]
    for j in range(1, kernel_size):
        output.addcmul_(x[:, j : j + tokens], weight[:, j])
    return output


class CausalConvolution(nn.Module):
    """Holds the depthwise kernel, [channels, 1, kernel_size] as HF shapes it."""

    def __init__(self, channels: int, kernel_size: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(channels, 1, kernel_size))


class GatedDeltaNet(nn.Module):
    """The linear-attention layer's mixer, [batch, tokens, hidden] -> same."""

    def __init__(self, config: TextConfig) -> None:
        super().__init__()
        self.config = config
        self.key_size = config.linear_key_dim
        self.value_size = config.linear_value_dim
        channels = 2 * self.key_size + self.value_size
        heads = config.linear_num_value_heads
        self.in_proj_qkv = Linear(config.hidden_size, channels)
        self.in_proj_z = Linear(config.hidden_size, self.value_size)
        self.in_proj_b = Linear(config.hidden_size, heads)
        self.in_proj_a = Linear(config.hidden_size, heads)
        self.conv1d = CausalConvolution(channels, config.conv_kernel_size)
        self.A_log = nn.Parameter(torch.zeros(heads))
        self.dt_bias = nn.Parameter(torch.ones(heads))
        self.norm = GatedRMSNorm(config.linear_value_head_dim, config.rms_norm_eps)
        self.out_proj = Linear(self.value_size, config.hidden_size)
        self._joined: JoinedLinear | None = None

    def prepare(self) -> None:
        """Join the small input maps; for inference, after loading."""
        self._joined = join(self.in_proj_qkv, self.in_proj_z, self.in_proj_b, self.in_proj_a)

    def project(self, x: Tensor) -> tuple[Tensor, ...]:
        """q, k and v in one tensor, z, b, a."""
        if self._joined is not None:
            return self._joined(x)
        return self.in_proj_qkv(x), self.in_proj_z(x), self.in_proj_b(x), self.in_proj_a(x)

    def gather(self, padded: Tensor, strength: Tensor, rate: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
        """query, key, value, decay and beta as the delta rule takes them, from the projections."""
        config = self.config
        mixed = F.silu(causal_convolution(padded, self.conv1d.weight.squeeze(1).float()))
        looking, value = mixed.float().split((2 * self.key_size, self.value_size), -1)
        looking = _normalise(looking.unflatten(-1, (2, config.linear_num_key_heads, config.linear_key_head_dim)))
        query, key = looking.unbind(-3)
        query = query * config.linear_key_head_dim**-0.5
        value = value.unflatten(-1, (config.linear_num_value_heads, config.linear_value_head_dim))
        repeats = config.linear_num_value_heads // config.linear_num_key_heads
        if repeats > 1:  # key head h serves the value heads h * repeats ... (h + 1) * repeats - 1
            query, key = query.repeat_interleave(repeats, 2), key.repeat_interleave(repeats, 2)
        decay = -self.A_log.float().exp() * F.softplus(rate.float() + self.dt_bias.float())
        return query, key, value, decay, strength.float().sigmoid()

    def forward(self, x: Tensor, state: DeltaState | None = None) -> Tensor:
        """Reads and replaces `state` when given."""
        mixed, gate, strength, rate = self.project(x)
        return self.out_proj(self.mix(mixed, gate, strength, rate, state))

    def mix(self, mixed: Tensor, gate: Tensor, strength: Tensor, rate: Tensor, state: DeltaState | None) -> Tensor:
        """All but the large products: from what `project` gives to what out_proj takes."""
        config = self.config
        batch, tokens, _ = mixed.shape
        before = None if state is None else state.inputs
        if before is None:
            before = mixed.new_zeros(batch, config.conv_kernel_size - 1, mixed.shape[-1])
        padded = torch.cat((before, mixed), 1)
        query, key, value, decay, beta = self.gather(padded, strength, rate)
        memory = None if state is None else state.memory
        if state is not None and state.tentative:
            output, *pending = tentative_delta_rule(query, key, value, decay, beta, memory)
            state.pending = PendingTokens(padded, *pending)
        elif tokens <= 2 and memory is not None:
            output, memory = recurrent_delta_rule(query, key, value, decay, beta, memory)
        else:
            output, memory = chunked_delta_rule(query, key, value, decay, beta, memory)
        if state is not None and not state.tentative:
            inputs = padded[:, tokens:]
            # A view would keep the whole prompt's inputs alive, gigabytes of them after many pages.
            state.inputs, state.memory = inputs if tokens <= config.conv_kernel_size else inputs.clone(), memory
        gate = gate.unflatten(-1, (config.linear_num_value_heads, -1))
        return self.norm(output, gate).flatten(2)


def _normalise(x: Tensor) -> Tensor:
    return x * torch.rsqrt((x * x).sum(-1, keepdim=True) + 1e-6)
