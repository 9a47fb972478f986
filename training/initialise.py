"""How the weights of nano start."""

from __future__ import annotations

import math

import torch
from torch import nn

from forklift.model import Model
from forklift.model.vision import VisionTower


def initialise_vision(tower: VisionTower) -> None:
    """Matrices normal with 1 / sqrt(in); what is added to the stream starts at a quarter of that."""
    for name, parameter in tower.named_parameters():
        if name == "pos_embed.weight":
            nn.init.normal_(parameter, std=0.02)
        elif parameter.ndim >= 2:
            fan_in = parameter[0].numel()
            nn.init.normal_(parameter, std=1 / math.sqrt(fan_in))
            if ("attn.proj" in name or "mlp.linear_fc2" in name) and name.startswith("blocks"):
                with torch.no_grad():
                    parameter.mul_(0.25)


def initialise_language(model: Model) -> None:
    """As for vision; decay rates spread so that some heads remember a page and some a word."""
    for name, parameter in model.language.named_parameters():
        if "embed_tokens" in name:
            nn.init.normal_(parameter, std=0.05)
        elif name.endswith("conv1d.weight"):
            nn.init.normal_(parameter, std=0.3)
        elif parameter.ndim >= 2:
            nn.init.normal_(parameter, std=1 / math.sqrt(parameter.shape[1]))
            if "out_proj" in name or "o_proj" in name or "down_proj" in name:
                with torch.no_grad():
                    parameter.mul_(0.25)
        elif name.endswith("A_log"):
            with torch.no_grad():
                rates = torch.tensor([0.01, 0.05, 0.3, 2.0])
                parameter.copy_(rates.repeat(math.ceil(parameter.shape[0] / 4))[: parameter.shape[0]].log())
