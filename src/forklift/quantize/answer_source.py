"""Where documents and their answers come from, for calibrating and measuring."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from forklift.decoding.grammar import SPACED
from forklift.engines.local import LocalEngine, answer_form, end_ids
from forklift.errors import UsageError
from forklift.prompt import Prompter
from forklift.quantize.samples import Sample, built_in_samples, folder_samples, generated_answers, gold_answers
from forklift.schema import Schema

DEFAULT_SAMPLES = 32
# Of built-in documents: what is calibrated on is not what is measured on.
CALIBRATION_SEED, HELD_OUT_SEED = 1_000_003, 2_000_003

Labelled = tuple[list[Sample], list[list[int]], Prompter]


def labelled_samples(
    model: Path,
    documents: Path | None,
    schema: str | None,
    count: int | None,
    *,
    scratch: Path,
    first: int = 0,
    seed: int = CALIBRATION_SEED,
    answers_from: Path | None = None,
    on_answer: Callable[[int, int], None] = lambda done, total: None,
) -> Labelled:
    """Samples, the tokens of their answers, and the model's prompter.

    documents: see `folder_samples`; None for built-in ones, made from `seed` and kept in the folder `scratch`.
    count: None for all of a folder.
    answers_from: the checkpoint that answers where the true answer is not known; the model itself by default.
    Raises UsageError where there are no documents.
    """
    prompter = Prompter.from_folder(model)
    if documents is None:
        if schema is not None:
            raise UsageError("--schema belongs to documents of your own; give them with --documents DIR")
        samples = built_in_samples(scratch, first + (count or DEFAULT_SAMPLES), seed)[first:]
    else:
        samples = folder_samples(documents, None if schema is None else Schema.load(schema), count, first)
    form = answer_form(model) or SPACED
    answers = gold_answers(samples, prompter, form, end_ids(prompter)[0])
    unanswered = [index for index, answer in enumerate(answers) if answer is None]
    if unanswered:
        engine = LocalEngine(answers_from or model)
        on_answer(0, len(unanswered))
        made = generated_answers([samples[index] for index in unanswered], engine)
        for done, (index, answer) in enumerate(zip(unanswered, made, strict=True), 1):
            answers[index] = answer
            on_answer(done, len(unanswered))
        engine.close()
    return samples, [answer for answer in answers if answer is not None], prompter
