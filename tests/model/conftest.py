"""Small models for the whole folder, and transformers' models of the same tensors."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from forklift.checkpoint.config import ModelConfig
from forklift.model import Model
from tests.model.references import FOUR_LAYERS, random_reference, small_config, twin


@pytest.fixture(scope="session")
def config() -> ModelConfig:
    return small_config()


@pytest.fixture(scope="session")
def reference(config: ModelConfig) -> Any:
    return random_reference(config, seed=1)


@pytest.fixture(scope="session")
def model(reference: Any, config: ModelConfig) -> Model:
    return twin(reference, config)


@pytest.fixture(scope="session")
def prepared(model: Model) -> Model:
    """The same, in the form that engines run."""
    prepared = copy.deepcopy(model)
    prepared.prepare_for_inference()
    return prepared


@pytest.fixture(scope="session")
def short_reference() -> Any:
    """Half the layers, for tests of many passes."""
    return random_reference(small_config(FOUR_LAYERS), seed=24)


@pytest.fixture(scope="session")
def short_prepared(short_reference: Any) -> Model:
    """Ours of the same tensors, in the form that engines run."""
    model = copy.deepcopy(twin(short_reference, small_config(FOUR_LAYERS)))
    model.prepare_for_inference()
    return model
