"""Attention that training can afford on a CPU: the scores of a page of 1,400 patches never leave the caches.

Explicit matrices of scores took half of a training step, docs/log.md. Where the processor has AMX tiles, `attend` runs
`attention.cpp`, which is compiled at first use; elsewhere plain torch.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import os
import platform
import subprocess
import tempfile
from pathlib import Path

import torch
from torch import Tensor

_SOURCE = Path(__file__).with_name("attention.cpp")
_HEAD_DIM = 64


def attend(query: Tensor, key: Tensor, value: Tensor, *, causal: bool = False) -> Tensor:
    """softmax(Q K^T / sqrt(d)) V, differentiable.

    query [batch, heads, tokens, d]; key and value [batch, groups, tokens, d], each for heads / groups heads; the last
    axis is contiguous. Returns [batch, heads, tokens, d].
    """
    if query.dtype == torch.bfloat16 and query.shape[-1] == _HEAD_DIM and _library() is not None:
        return _Tiled.apply(query, key, value, causal)
    return attend_plainly(query, key, value, causal=causal)


def attend_plainly(query: Tensor, key: Tensor, value: Tensor, *, causal: bool = False) -> Tensor:
    """The same in plain torch."""
    heads, tokens, width = query.shape[1:]
    repeats = heads // key.shape[1]
    grouped = query.unflatten(1, (key.shape[1], repeats)).flatten(2, 3)
    scores = (grouped * width**-0.5) @ key.transpose(-1, -2)
    if causal:
        hidden = torch.ones(tokens, tokens, dtype=torch.bool, device=query.device).triu(1)
        scores = scores.masked_fill(hidden.repeat(repeats, 1), float("-inf"))
    return (scores.softmax(-1) @ value).unflatten(2, (repeats, tokens)).flatten(1, 2)


class _View(ctypes.Structure):
    """A tensor [batch, heads, tokens, d] as the library sees it; strides in elements."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("batch", ctypes.c_int64),
        ("head", ctypes.c_int64),
        ("row", ctypes.c_int64),
    )

    @classmethod
    def of(cls, tensor: Tensor) -> _View:
        assert tensor.stride(-1) == 1, f"the last axis is not contiguous: strides {tensor.stride()}"
        return cls(tensor.data_ptr(), *tensor.stride()[:3])


class _Tiled(torch.autograd.Function):
    @staticmethod
    def forward(context, query: Tensor, key: Tensor, value: Tensor, causal: bool) -> Tensor:
        batch, heads, tokens, _ = query.shape
        # The caller joins the heads of a token next, so that is how they lie in memory.
        output = query.new_empty(batch, tokens, heads, _HEAD_DIM).transpose(1, 2)
        sums = query.new_empty(batch, heads, -(-tokens // 32) * 32, dtype=torch.float32)
        views = [ctypes.byref(_View.of(tensor)) for tensor in (query, key, value, output)]
        sizes = (batch, heads, key.shape[1], tokens, int(causal))
        _library().attention_forward(*views, ctypes.c_void_p(sums.data_ptr()), *sizes)
        context.save_for_backward(query, key, value, output, sums)
        context.sizes = sizes
        return output

    @staticmethod
    def backward(context, gradient: Tensor) -> tuple[Tensor | None, ...]:
        query, key, value, output, sums = context.saved_tensors
        if gradient.stride(-1) != 1:
            gradient = gradient.contiguous()
        gradients = [torch.empty_like(tensor) for tensor in (query, key, value)]
        views = [ctypes.byref(_View.of(tensor)) for tensor in (query, key, value, output, gradient)]
        results = [ctypes.byref(_View.of(tensor)) for tensor in gradients]
        _library().attention_backward(*views, ctypes.c_void_p(sums.data_ptr()), *results, *context.sizes)
        return *gradients, None


@functools.cache
def _library() -> ctypes.CDLL | None:
    """The compiled tiles; None where the processor has none, or no compiler is found."""
    if platform.machine() != "x86_64" or not Path("/proc/cpuinfo").exists():
        return None
    flags = Path("/proc/cpuinfo").read_text().partition("flags")[2].partition("\n")[0].split()
    if not {"amx_bf16", "avx512_bf16", "avx512vl"} <= set(flags):
        return None
    folder = Path(tempfile.gettempdir()) / f"forklift-training-{os.getuid()}"
    target = folder / f"attention-{hashlib.sha256(_SOURCE.read_bytes()).hexdigest()[:16]}.so"
    if not target.exists():
        folder.mkdir(mode=0o700, exist_ok=True)
        half = target.with_suffix(f".{os.getpid()}")
        command = [
            "g++",
            "-O3",
            "-march=sapphirerapids",
            "-std=c++17",
            "-shared",
            "-fPIC",
            "-o",
            str(half),
            str(_SOURCE),
        ]
        try:
            subprocess.run(command, check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError):
            return None
        half.replace(target)
    library = ctypes.CDLL(str(target))
    return library if library.attention_ready() else None
