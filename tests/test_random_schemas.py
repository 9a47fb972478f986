"""Any schema on a model that knows nothing: what comes out is always valid, or says that it was cut."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
import torch
from PIL import Image

from forklift.checkpoint.config import ModelConfig, TextConfig, VisionConfig
from forklift.extract import Extractor, load
from forklift.model import Model
from forklift.results import Outcome
from tests.schema_generator import random_schema
from training.lessons import tokenizer
from training.package import write_checkpoint
from training.tokenizer import VOCABULARY_SIZE


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "page.png"
    Image.new("RGB", (96, 64), "white").save(path)
    return path


def small_model(seed: int) -> Model:
    """The true architecture at toy widths; weights large enough that every next token is a surprise."""
    torch.manual_seed(seed)
    ids = {text: tokenizer().token_to_id(text) for text in ("<|image_pad|>", "<|video_pad|>", "<|endoftext|>")}
    text = TextConfig(
        vocabulary_size=VOCABULARY_SIZE,
        hidden_size=64,
        intermediate_size=64,
        layer_kinds=("linear_attention", "full_attention"),
        num_query_heads=2,
        num_key_value_heads=1,
        head_dim=32,
        linear_num_key_heads=1,
        linear_num_value_heads=2,
        linear_key_head_dim=32,
        linear_value_head_dim=32,
        partial_rotary_factor=0.5,
        mrope_section=(3, 3, 2),
        tie_word_embeddings=True,
    )
    vision = VisionConfig(1, 64, 64, 2, out_hidden_size=64, num_position_embeddings=16)
    model = Model(ModelConfig(text, vision, ids["<|image_pad|>"], ids["<|video_pad|>"], 3, 4))
    for parameter in model.parameters():
        if parameter.ndim > 1:
            torch.nn.init.normal_(parameter, std=0.3)
    return model


@pytest.fixture(scope="module", params=range(4))
def numbered_extractor(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[int, Extractor]:
    folder = tmp_path_factory.mktemp(f"random{request.param}")
    template = Path(__file__).parent.parent / "src" / "forklift" / "nano" / "chat_template.jinja"
    (folder / "chat_template.jinja").write_text(template.read_text(encoding="utf-8"), encoding="utf-8")
    write_checkpoint(folder, small_model(request.param))
    return request.param, load(folder)


@pytest.mark.slow
def test_fifty_random_schemas_give_valid_answers_on_each_of_four_random_models(
    numbered_extractor: tuple[int, Extractor], page: Path
) -> None:
    """The answer under the user's own schema has no problems, whether it is complete or was cut."""
    number, extractor = numbered_extractor
    complete = 0
    for index in range(50 * number, 50 * number + 50):
        schema = random_schema(random.Random(index))
        result = extractor.extract(page, schema, max_new_tokens=250)
        if result.outcome is Outcome.COMPLETE:
            complete += 1
            assert not result.problems, (index, schema, result.data)
        else:
            assert result.outcome is Outcome.TRUNCATED
    # Random strings run long; a model that never closes one would prove nothing.
    assert complete >= 15
