"""Linear maps and embeddings, with float weights or with packed ones that stay packed in memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from forklift.errors import CheckpointError

SUPPORTED_BITS = (2, 3, 4, 5, 6, 8)
SUPPORTED_GROUP_SIZES = (32, 64, 128)


@dataclass(frozen=True, eq=False)
class Packed:
    """A matrix [out, in] stored as unsigned `bits`-bit codes: weight ~ scale * code + bias, group by group.

    codes: uint32 [out, in * bits / 32], a little-endian stream of bits along each row.
    scales, biases: float [out, in / group_size], bfloat16 on disk.
    Layout: MLX affine.
    """

    codes: Tensor
    scales: Tensor
    biases: Tensor
    bits: int
    group_size: int

    @property
    def shape(self) -> tuple[int, int]:
        """(out, in) of the matrix that the codes stand for."""
        return self.codes.shape[0], self.codes.shape[1] * 32 // self.bits


def pack_codes(codes: Tensor, bits: int) -> Tensor:
    """uint8 [..., n], each below 2**bits, n * bits a multiple of 32 -> uint32 [..., n * bits / 32].

    Code i takes bits i * bits .. (i + 1) * bits - 1 of the row, from the lowest bit of the first word up.
    """
    count = codes.shape[-1]
    if bits not in SUPPORTED_BITS or count * bits % 32:
        raise ValueError(f"cannot pack {count} codes of {bits} bits into whole 32-bit words")
    # Eight codes fill exactly `bits` bytes, so every width is handled at byte granularity.
    octets = codes.to(torch.int32).unflatten(-1, (count // 8, 8))
    packed = torch.zeros(*octets.shape[:-1], bits, dtype=torch.int32, device=codes.device)
    for position in range(8):
        byte, shift = divmod(position * bits, 8)
        shifted = octets[..., position] << shift
        packed[..., byte] |= shifted & 0xFF
        if shift + bits > 8:
            packed[..., byte + 1] |= shifted >> 8
    return packed.to(torch.uint8).flatten(-2).contiguous().view(torch.uint32)


def unpack_codes(packed: Tensor, bits: int) -> Tensor:
    """uint32 [..., words] -> uint8 [..., words * 32 / bits]; the inverse of `pack_codes`."""
    words = packed.shape[-1]
    if bits not in SUPPORTED_BITS or words % bits:
        raise ValueError(f"{words} words of 32 bits are no whole number of groups of 32 codes of {bits} bits")
    octets = packed.contiguous().view(torch.uint8).unflatten(-1, (words * 4 // bits, bits)).to(torch.int32)
    codes = torch.empty(*octets.shape[:-1], 8, dtype=torch.uint8, device=packed.device)
    for position in range(8):
        byte, shift = divmod(position * bits, 8)
        value = octets[..., byte] >> shift
        if shift + bits > 8:
            value = value | (octets[..., byte + 1] << (8 - shift))
        codes[..., position] = value & ((1 << bits) - 1)
    return codes.flatten(-2)


def quantize_groups(weight: Tensor, *, bits: int, group_size: int = 64) -> Packed:
    """Store each group of a weight row as unsigned `bits`-bit codes between the group's minimum and maximum.

    weight: float [out, in], group_size divides in.
    Returns scales and biases in bfloat16. The codes are rounded against those stored values, so the error
    is at most scale / 2 plus what rounding scale and bias moves the two ends of the group by.
    Raises ValueError on a ragged row, NaN or infinity, an unsupported width or group size.
    """
    rows, columns = weight.shape
    if bits not in SUPPORTED_BITS:
        raise ValueError(f"bits is {bits}; supported: {', '.join(map(str, SUPPORTED_BITS))}")
    if group_size not in SUPPORTED_GROUP_SIZES:
        raise ValueError(f"group_size is {group_size}; supported: {', '.join(map(str, SUPPORTED_GROUP_SIZES))}")
    if columns % group_size:
        raise ValueError(f"a row of {columns} weights is no whole number of groups of {group_size}")
    if not torch.isfinite(weight).all():
        raise ValueError("the weight holds NaN or infinity")
    groups = weight.float().reshape(rows, columns // group_size, group_size)
    low, high = groups.aminmax(dim=-1, keepdim=True)
    scales = ((high - low) / (2**bits - 1)).bfloat16()
    biases = low.bfloat16()
    step = scales.float()
    # A constant group has step 0; its bias alone says it all.
    codes = (groups - biases.float()) / torch.where(step == 0, 1.0, step)
    codes = codes.round_().clamp_(0, 2**bits - 1).to(torch.uint8).reshape(rows, columns)
    return Packed(pack_codes(codes, bits), scales.squeeze(-1), biases.squeeze(-1), bits, group_size)


def dequantize(packed: Packed, dtype: torch.dtype = torch.float32) -> Tensor:
    """The matrix [out, in] that `packed` stands for, computed in float32 and rounded once to `dtype`."""
    codes = unpack_codes(packed.codes, packed.bits)
    groups = codes.reshape(*codes.shape[:-1], -1, packed.group_size).float()
    groups.mul_(packed.scales.float().unsqueeze(-1)).add_(packed.biases.float().unsqueeze(-1))
    return groups.flatten(-2).to(dtype)


def _initialise(weight: Tensor) -> None:
    if not weight.is_meta:  # random numbers on the meta device import half of torch: 1.2 s
        nn.init.normal_(weight, std=0.02)


class Linear(nn.Module):
    """y = x W^T + b; weight float [out_features, in_features], bias [out_features] or None."""

    weight: nn.Parameter
    bias: nn.Parameter | None

    def __init__(self, in_features: int, out_features: int, bias: bool = False) -> None:
        super().__init__()
        self.in_features = in_features
        self.out_features = out_features
        self.weight = nn.Parameter(torch.empty(out_features, in_features))
        self.bias = nn.Parameter(torch.zeros(out_features)) if bias else None
        _initialise(self.weight)

    def forward(self, x: Tensor) -> Tensor:
        """x [..., in_features] -> [..., out_features]; float32 weights serve bfloat16 activations too."""
        bias = None if self.bias is None else self.bias.to(x.dtype)
        return F.linear(x, self.weight.to(x.dtype), bias)

    def extra_repr(self) -> str:
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"


class Embedding(nn.Module):
    """A table of one row a token; weight float [num_embeddings, embedding_dim]."""

    weight: nn.Parameter

    def __init__(self, num_embeddings: int, embedding_dim: int) -> None:
        super().__init__()
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.weight = nn.Parameter(torch.empty(num_embeddings, embedding_dim))
        _initialise(self.weight)

    def forward(self, ids: Tensor) -> Tensor:
        """ids int [...] -> rows [..., embedding_dim]."""
        return F.embedding(ids, self.weight)

    def as_linear(self, x: Tensor) -> Tensor:
        """The table as a tied language head: x [..., embedding_dim] -> logits [..., num_embeddings]."""
        return F.linear(x, self.weight.to(x.dtype))

    def extra_repr(self) -> str:
        return f"num_embeddings={self.num_embeddings}, embedding_dim={self.embedding_dim}"


class _PackedModule(nn.Module):
    """Holds a Packed as the buffers that a checkpoint names: weight (the codes), scales, biases."""

    weight: Tensor
    scales: Tensor
    biases: Tensor

    def __init__(self, packed: Packed) -> None:
        super().__init__()
        self.bits = packed.bits
        self.group_size = packed.group_size
        self.register_buffer("weight", packed.codes)
        self.register_buffer("scales", packed.scales)
        self.register_buffer("biases", packed.biases)

    @property
    def packed(self) -> Packed:
        return Packed(self.weight, self.scales, self.biases, self.bits, self.group_size)

    def extra_repr(self) -> str:
        return f"shape={self.packed.shape}, bits={self.bits}, group_size={self.group_size}"


class QuantizedLinear(_PackedModule):
    """A Linear whose weight stays packed; a call dequantises it to the input dtype, then multiplies."""

    def __init__(self, packed: Packed, bias: Tensor | None = None) -> None:
        super().__init__(packed)
        self.out_features, self.in_features = packed.shape
        self.bias = nn.Parameter(bias) if bias is not None and not isinstance(bias, nn.Parameter) else bias

    def forward(self, x: Tensor) -> Tensor:
        """x [..., in_features] -> [..., out_features]."""
        return F.linear(x, dequantize(self.packed, x.dtype), self.bias)


class QuantizedEmbedding(_PackedModule):
    """An Embedding whose table stays packed; only the rows that are looked up are dequantised, to `dtype`."""

    def __init__(self, packed: Packed, dtype: torch.dtype) -> None:
        super().__init__(packed)
        self.num_embeddings, self.embedding_dim = packed.shape
        self.dtype = dtype

    def forward(self, ids: Tensor) -> Tensor:
        """ids int [...] -> rows [..., embedding_dim]."""
        # torch indexes no uint32 on the CPU; the same bits as int32 it does.
        codes = self.weight.view(torch.int32)[ids].view(torch.uint32)
        return dequantize(Packed(codes, self.scales[ids], self.biases[ids], self.bits, self.group_size), self.dtype)

    def as_linear(self, x: Tensor) -> Tensor:
        """The table as a tied language head: x [..., embedding_dim] -> logits [..., num_embeddings]."""
        return F.linear(x, dequantize(self.packed, x.dtype))


def replace_quantized(model: nn.Module, tensors: Mapping[str, Tensor | Packed], dtype: torch.dtype) -> None:
    """Swap every Linear and Embedding of `model` whose weight is Packed in `tensors` for its packed twin.

    tensors: by canonical name ("<module path>.weight"); the module's bias, if any, is left to be loaded.
    dtype: what looked-up embedding rows are computed to.
    Raises CheckpointError for a packed tensor that belongs to no Linear or Embedding.
    """
    for name, packed in tensors.items():
        if not isinstance(packed, Packed):
            continue
        path = name.removesuffix(".weight")
        parent_path, _, attribute = path.rpartition(".")
        try:
            module = model.get_submodule(path)
        except AttributeError:
            module = None
        twin: nn.Module
        if isinstance(module, Linear):
            twin = QuantizedLinear(packed, module.bias)
        elif isinstance(module, Embedding):
            twin = QuantizedEmbedding(packed, dtype)
        else:
            raise CheckpointError(f"{name} is quantised, but {path} is no linear map or embedding")
        setattr(model.get_submodule(parent_path), attribute, twin)
