"""What packaging does to the weights: colours are seen as the greys that training showed."""

from __future__ import annotations

import numpy as np
import pypdfium2 as pdfium
import torch

from forklift.model import Model
from training.lessons import tokenizer
from training.nano import nano_config
from training.package import LUMA, see_colours_as_greys
from training.tokenizer import SPECIALS, VOCABULARY_SIZE
from training.wide.paper import Printer


def test_a_coloured_patch_is_seen_as_its_grey_and_a_grey_one_as_before() -> None:
    torch.manual_seed(0)
    model = Model(nano_config(VOCABULARY_SIZE, {text: tokenizer().token_to_id(text) for text in SPECIALS}))
    weight = model.vision.patch_embed.proj.weight
    torch.nn.init.normal_(weight, std=0.02)

    def project(patches: torch.Tensor) -> torch.Tensor:
        return torch.einsum("bcthw,octhw->bo", patches, weight)

    colour = torch.rand(5, 3, 1, 16, 16).expand(-1, -1, 2, -1, -1) * 2 - 1
    grey = (colour * torch.tensor(LUMA)[:, None, None, None]).sum(1, keepdim=True).expand(-1, 3, -1, -1, -1)
    with torch.no_grad():
        before = project(grey)
        assert not torch.allclose(project(colour), before, atol=1e-3)
        see_colours_as_greys(model)
        torch.testing.assert_close(project(grey), before, atol=1e-5, rtol=1e-4)
        torch.testing.assert_close(project(colour), before, atol=1e-5, rtol=1e-4)


def test_these_are_the_greys_that_pdfium_draws() -> None:
    sheet = Printer(30, 10)
    colours = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.2, 0.4, 0.8))
    for index, colour in enumerate(colours):
        sheet.box(10 * index, 0, 10, 10, colour, None, 0)
    pdf = pdfium.PdfDocument(sheet.pdf())
    try:
        grey = np.array(pdf[0].render(scale=1, grayscale=True).to_numpy()).reshape(10, 30)
    finally:
        pdf.close()
    for index, colour in enumerate(colours):
        expected = 255 * sum(part * share for part, share in zip(colour, LUMA, strict=True))
        # each channel and the result are rounded to whole levels
        assert abs(grey[5, 10 * index + 5] - expected) <= 2
