"""Writes mlx_quantized.safetensors: what `mlx.core.quantize` makes of some weights. Needs mlx; run it once."""

from __future__ import annotations

from pathlib import Path

import torch
from safetensors.torch import save_file


def main() -> None:
    import mlx.core as mx

    mx.set_default_device(mx.cpu)
    generator = torch.Generator().manual_seed(7)
    weight = (torch.randn(6, 128, generator=generator) * torch.rand(6, 1, generator=generator)).bfloat16()
    weight[1, :64] = 0
    weight[2, :64] = 0.25
    weight[3] = weight[3].abs()
    tensors = {"weight": weight}
    for bits in (2, 3, 4, 5, 6, 8):
        codes, scales, biases = mx.quantize(
            mx.array(weight.float().numpy()).astype(mx.bfloat16), group_size=64, bits=bits
        )
        tensors[f"{bits}.codes"] = torch.tensor(codes.tolist()).to(torch.uint32)
        tensors[f"{bits}.scales"] = torch.tensor(scales.astype(mx.float32).tolist()).bfloat16()
        tensors[f"{bits}.biases"] = torch.tensor(biases.astype(mx.float32).tolist()).bfloat16()
    save_file(tensors, Path(__file__).parent / "mlx_quantized.safetensors")


if __name__ == "__main__":
    main()
