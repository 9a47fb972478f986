"""Lessons: what the model is shown agrees with what was drawn, and one step of every loss teaches."""

from __future__ import annotations

import json
from itertools import pairwise
from random import Random

import pytest
import torch

from forklift.model import Model
from forklift.prompt import TASK
from training.initialise import initialise_language, initialise_vision
from training.labels import END, IGNORED, SLOTS, label_page, patchify
from training.layouts import KINDS, make_document
from training.lessons import MIX, UNKNOWN, LessonMaker, difficulty, make_lesson, padded_length, shares, tokenizer
from training.nano import CHARACTERS, nano_config
from training.optimizer import learning_rate_factor
from training.reading import CROPS, cut, make_sheet
from training.supervision import Batch, Supervisor, forward, right_spans
from training.tasks import answer_json, plain_task
from training.tokenizer import SPECIALS, VOCABULARY_SIZE


@pytest.mark.parametrize("kind", KINDS)
def test_a_lesson_spells_the_prompt_and_the_answer(kind: str) -> None:
    document = make_document(Random(11), kind)
    task = plain_task(document)
    lesson = make_lesson(document, task)
    assert lesson is not None
    text = tokenizer().decode(lesson.token_ids, skip_special_tokens=False)
    prompt, answer = text.split("<|im_start|>assistant\n")
    assert answer.endswith("<|im_end|>")
    assert json.loads(answer.removesuffix("<|im_end|>")) == answer_json(task.answer)
    assert TASK in prompt
    assert json.dumps(task.schema, indent=2, ensure_ascii=False) in prompt
    cells = lesson.labels.shape[0] * lesson.labels.shape[1]
    assert text.count("<|image_pad|>") == cells == lesson.patches.shape[0] * lesson.patches.shape[1] // 4
    assert len(lesson.token_ids) <= padded_length(lesson)


@pytest.mark.parametrize("kind", KINDS)
def test_each_answer_character_points_at_a_glyph_of_its_kind(kind: str) -> None:
    checked = 0
    for seed in range(6):
        document = make_document(Random(seed), kind)
        lesson = make_lesson(document, plain_task(document))
        if lesson is None:
            continue
        # A month's name stands for its number, a day's only digit for two, a currency's sign for its code.
        verbatim = [span for span in lesson.spans if "date" not in span.pointer and "currency" not in span.pointer]
        for index in (index for span in verbatim for index in range(span.start, span.end)):
            if lesson.slot[index] == UNKNOWN:
                continue
            page = max(p for p, start in enumerate(lesson.image_start) if start <= lesson.cell[index])
            label = lesson.labels[page, lesson.cell[index] - lesson.image_start[page], lesson.slot[index]]
            if label in (IGNORED, END):
                continue
            assert CHARACTERS[label - 1] == tokenizer().decode([lesson.token_ids[index]])
            checked += 1
    assert checked > 50


def test_spans_are_the_leaves_in_order() -> None:
    document = make_document(Random(4), "invoice")
    lesson = make_lesson(document, plain_task(document))
    assert lesson is not None
    assert lesson.spans[0].pointer == "/vendor"
    assert lesson.spans[-1].pointer == "/total"
    for one, other in pairwise(lesson.spans):
        assert lesson.answer_start <= one.start < one.end <= len(lesson.token_ids)
        assert one.start < other.start


def test_labels_hold_most_glyphs() -> None:
    """All but those of patches at whose border a glyph's centre lies, and of typed rules."""
    drawn = held = 0
    for seed in range(20):
        sheet = make_document(Random(seed), "key_values").sheet
        width, height = round(sheet.width / 0.75), round(sheet.height / 0.75)
        labelled = label_page(sheet.runs, 0, width, height, 4 / 3, 4 / 3)
        assert labelled.labels.shape == (height // 32, width // 32, 4 * SLOTS)
        drawn += sum(character != " " for run in sheet.runs for character in run.text)
        held += int(((labelled.labels != IGNORED) & (labelled.labels != END)).sum())
    assert 0.6 * drawn < held <= drawn


def test_a_crop_of_a_sheet_is_labelled_where_its_pixels_are_dark() -> None:
    pixels, labels = make_sheet(5)
    width, height, _ = CROPS[0]
    patches, cells = cut(pixels, labels, width, height, Random(1))
    assert patches.shape == (width * height // 256, 256)
    darkest = patches.reshape(-1, 4, 256).min(2)
    printed = (cells.reshape(-1, 4, SLOTS) > END).any(2)
    assert (darkest[printed] < 200).all()
    assert printed.sum() > 20


def test_patches_are_those_of_the_image_processor() -> None:
    from PIL import Image

    from forklift.patches import ImageProcessor

    pixels = make_document(Random(3), "receipt_lines").sheet.render()[0]
    processor = ImageProcessor(patch_size=16, min_pixels=1024, mean=(0.5,) * 3, std=(0.5,) * 3)
    values, grid = processor.patchify(Image.fromarray(pixels).convert("RGB"))
    ours = patchify(pixels).astype("float32") * (2 / 255) - 1
    assert grid == (1, pixels.shape[0] // 16, pixels.shape[1] // 16)
    assert abs(values.reshape(-1, 6, 256) - ours[:, None]).max() < 1e-6


def test_one_step_of_all_losses_reaches_every_weight() -> None:
    torch.manual_seed(0)
    config = nano_config(VOCABULARY_SIZE, {text: tokenizer().token_to_id(text) for text in SPECIALS})
    model, supervisor = Model(config), Supervisor(config.text.hidden_size, config.vision.out_hidden_size)
    initialise_vision(model.vision)
    initialise_language(model)
    lessons = []
    for seed in range(9):
        document = make_document(Random(seed), "key_values")
        lesson = make_lesson(document, plain_task(document))
        if lesson is not None and len(lessons) < 3:
            lessons.append(lesson)
    batch = Batch.of(lessons)
    losses = forward(model, supervisor, batch)
    assert losses.reading is not None
    assert losses.slot is not None
    # Untrained, every guess is about as good as chance: log of the number of choices.
    assert 4 < losses.answer.item() < 12
    assert len(losses.pointer) == config.text.layer_kinds.count("full_attention") - 1
    (losses.answer + losses.reading + losses.slot + sum(losses.pointer)).backward()
    for name, parameter in [*model.named_parameters(), *supervisor.named_parameters()]:
        assert parameter.grad is not None, name
        assert torch.isfinite(parameter.grad).all(), name
    assert [len(rights) for rights in right_spans(batch, losses.predicted)] == [len(lesson.spans) for lesson in lessons]
    everything = batch.targets[batch.targets != IGNORED]
    assert all(all(rights) for rights in right_spans(batch, everything))


def test_the_curriculum_adds_up_and_brings_pages_late() -> None:
    for progress in (0.0, 0.2, 0.5, 1.0):
        assert abs(sum(shares(progress).values()) - 1) < 1e-9
    assert shares(0)["invoice"] == 0 < shares(1)["invoice"]
    assert difficulty(0) < difficulty(1) == 1


def test_the_learning_rate_warms_up_stays_and_falls() -> None:
    factors = [learning_rate_factor(step, step / 1000, warm_up=50, fall_from=0.5) for step in range(1001)]
    assert factors[0] == 1 / 50
    assert factors[100] == factors[500] == 1
    assert factors[1000] == pytest.approx(0.03)
    assert all(later <= earlier for earlier, later in pairwise(factors[500:]))


def test_the_same_seed_draws_the_same_batch() -> None:
    one, other = (LessonMaker().draw(77, 0.0) for _ in range(2))
    assert len(one) == MIX[one[0].kind][2]
    assert [lesson.token_ids for lesson in one] == [lesson.token_ids for lesson in other]
