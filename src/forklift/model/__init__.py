"""The model in PyTorch: one implementation for extraction, training and calibration."""

from forklift.model.model import Model

__all__ = ["Model"]
