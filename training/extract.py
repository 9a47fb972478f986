"""Stage 2: the whole model learns to answer. Resumable; run as `python -m training.extract --minutes 90`."""

from __future__ import annotations

import argparse
import re
import time
from collections import defaultdict
from pathlib import Path
from random import Random

from training.feed import Feed
from training.lessons import LessonMaker, shares
from training.parallel import Peers, run
from training.run_folder import RunFolder

HELD_OUT_SEED = 2**41 + 10**6  # apart from the documents of the final figures


def main() -> None:
    arguments = _parse()
    run(arguments.processes, lambda peers: train(arguments, peers))


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--run", type=Path, default=Path("runs/extract"))
    parser.add_argument("--profile", choices=("narrow", "wide"), default="narrow", help="which documents to learn")
    parser.add_argument(
        "--vision-init", type=Path, help="take the vision tower from this run; runs/read/state.pt without --init"
    )
    parser.add_argument(
        "--init", type=Path, help="continue from another run's state or from a checkpoint folder, with a new schedule"
    )
    parser.add_argument("--minutes", type=float, default=90, help="length of the whole schedule")
    parser.add_argument("--start-progress", type=float, default=0.0, help="skip the first part of the curriculum")
    parser.add_argument("--processes", type=int, default=2, help="share each batch between so many processes")
    parser.add_argument("--threads", type=int, default=1, help="threads of each process")
    parser.add_argument("--first-seed", type=int, default=1_000_000)
    parser.add_argument("--rate", type=float, default=2e-3)
    parser.add_argument("--vision-rate", type=float, default=5e-4)
    parser.add_argument("--pointer-weight", type=float, default=0.5)
    parser.add_argument("--slot-weight", type=float, default=0.3)
    parser.add_argument("--compile", action=argparse.BooleanOptionalAction, default=True)
    return parser.parse_args()


def train(arguments: argparse.Namespace, peers: Peers) -> None:
    """One process of the run; the first one logs and saves."""
    folder = RunFolder(arguments.run)

    import torch

    state = folder.load()
    first = arguments.first_seed if state is None else state["next_index"]
    feed = Feed(LessonMaker(peers.count, arguments.profile).draw, first + peers.rank, stride=peers.count, ahead=4)

    from forklift.checkpoint.tensors import read_tensors
    from forklift.model import Model
    from training.compiling import EAGER, Pieces, compile_blocks
    from training.initialise import initialise_language, initialise_vision
    from training.lessons import tokenizer
    from training.nano import nano_config
    from training.optimizer import Optimizer, learning_rate_factor
    from training.reader import reading_state
    from training.supervision import Batch, Supervisor, forward, right_spans
    from training.tokenizer import SPECIALS, VOCABULARY_SIZE

    torch.set_num_threads(arguments.threads)
    torch.manual_seed(0)
    config = nano_config(VOCABULARY_SIZE, {text: tokenizer().token_to_id(text) for text in SPECIALS})
    model = Model(config)
    supervisor = Supervisor(config.text.hidden_size, config.vision.out_hidden_size)
    initialise_vision(model.vision)
    initialise_language(model)
    language = [(f"language.{name}", p) for name, p in model.language.named_parameters()]
    seeing = [*model.vision.named_parameters("vision"), *supervisor.named_parameters("supervisor_head")]
    optimizer = Optimizer([(language, arguments.rate), (seeing, arguments.vision_rate)])
    step, seconds = 0, 0.0
    source = state or (torch.load(arguments.init, weights_only=False) if _is_state(arguments.init) else None)
    if source is None and arguments.init is not None:
        weights = read_tensors(arguments.init, config)
        model.load_state_dict({name: weight.float() for name, weight in weights.items()})
    elif source is not None:
        model.load_state_dict(source["model"])
        supervisor.load_state_dict(source["supervisor"])
    if state is None and (arguments.vision_init is not None or arguments.init is None):
        seen, named = reading_state(arguments.vision_init or Path("runs/read/state.pt"))
        model.vision.load_state_dict(seen)
        supervisor.reading_head.load_state_dict(named)
    if state is not None:
        optimizer.load_state_dict(state["optimizer"])
        step, seconds = state["step"], state["seconds"]
    pieces = EAGER
    if arguments.compile:
        compile_blocks(model.vision, dynamic=True)
        pieces = Pieces.compiled()

    def save() -> None:
        folder.save(
            {
                "model": model.state_dict(),
                "supervisor": supervisor.state_dict(),
                "optimizer": optimizer.state_dict(),
                "step": step,
                "seconds": seconds,
                "next_index": feed.next_index,
            }
        )

    held_out = [
        _held_out(kind, arguments.profile) for kind in list(shares(1, arguments.profile))[peers.rank :: peers.count]
    ]

    def evaluate(progress: float) -> None:
        for lessons in held_out:
            kind = lessons[0][0].kind
            if shares(progress, arguments.profile)[kind] <= 0:
                continue
            per_field: dict[str, list[bool]] = defaultdict(list)
            reading, pointing, slots = [], [], []
            # Eager, since compiling for the shapes of these batches would take longer than they do.
            with torch.no_grad(), torch.compiler.set_stance("force_eager"):
                for group in lessons:
                    batch = Batch.of(group)
                    losses = forward(model, supervisor, batch)
                    reading.append(losses.characters)
                    pointing.append(losses.pointer_hits)
                    slots.append(losses.slot_hits)
                    for lesson, rights in zip(group, right_spans(batch, losses.predicted), strict=True):
                        for span, right in zip(lesson.spans, rights, strict=True):
                            per_field[re.sub(r"/\d+", "", span.pointer)].append(right)
            every = [right for rights in per_field.values() for right in rights]
            folder.say(
                f"  held out {kind}: fields {_share(every):.3f} of {len(every)}, characters {_mean(reading):.3f}, "
                f"pointer {_mean(pointing):.2f}, slot {_mean(slots):.2f} | "
                + " ".join(f"{name.lstrip('/')} {_share(rights):.2f}" for name, rights in per_field.items())
            )

    averages: dict[str, list[float]] = {}
    times: dict[str, float] = {}
    last = last_save = time.monotonic()
    last_evaluation = seconds
    budget = arguments.minutes * 60
    while seconds < budget:
        progress = arguments.start_progress + (1 - arguments.start_progress) * seconds / budget
        lessons = feed.get(progress)
        started = time.monotonic()
        losses = forward(model, supervisor, Batch.of(lessons), pieces=pieces)
        fading = 1.0 if progress < 0.6 else 1 - 0.8 * (progress - 0.6) / 0.4
        loss = losses.answer + losses.reading
        if losses.pointer:
            loss = loss + arguments.pointer_weight * fading * sum(losses.pointer)
        if losses.slot is not None:
            loss = loss + arguments.slot_weight * losses.slot
        loss.backward()
        peers.average_gradients(optimizer.parameters)
        norm = optimizer.step(learning_rate_factor(step, seconds / budget, warm_up=100, fall_from=0.45))
        step += 1
        now = time.monotonic()
        seconds += peers.agree(min(now - last, 20.0))  # compiling is not training
        last = now
        kind = lessons[0].kind
        current = [losses.answer.item(), losses.characters, losses.pointer_hits, losses.slot_hits]
        old = averages.setdefault(kind, current)
        averages[kind] = [0.9 * a + 0.1 * b for a, b in zip(old, current, strict=True)]
        times[kind] = 0.8 * times.get(kind, now - started) + 0.2 * (now - started)
        if step % 50 == 0 and peers.rank == 0:
            folder.say(
                f"{seconds:.0f} s step {step} p {progress:.2f} norm {norm:.1f} loss/characters/pointer/slot "
                + " ".join(f"{name} " + "/".join(f"{v:.3f}" for v in values) for name, values in averages.items())
                + " | s/step "
                + " ".join(f"{name} {value:.2f}" for name, value in times.items())
            )
        if seconds - last_evaluation > 600:
            last_evaluation = seconds
            evaluate(progress)
            last = time.monotonic()  # measuring is not training
        if now - last_save > 150 and peers.rank == 0:
            save()
            last_save = now
    evaluate(1.0)
    if peers.rank == 0:
        save()
        folder.say(f"done {step} steps {seconds:.0f} s")
    feed.close()


def _is_state(path: Path | None) -> bool:
    return path is not None and path.is_file()


def _held_out(kind: str, profile: str) -> list:
    """32 lessons (16 of two pages) with the plain schema, in groups of equal shape."""
    from training.layouts import make_document
    from training.lessons import batch_size, make_lesson, padded_length
    from training.tasks import plain_task

    groups: dict[tuple[tuple[int, int], int], list] = defaultdict(list)
    for index in range(16 if kind == "invoice_two_pages" else 32):
        document = make_document(Random(HELD_OUT_SEED + index), kind, profile=profile)
        lesson = make_lesson(document, plain_task(document))
        if lesson is not None:
            groups[lesson.size, padded_length(lesson)].append(lesson)
    return [
        group[i : i + most]
        for group in groups.values()
        for most in [16 if profile == "narrow" else 2 * batch_size(group[0])]
        for i in range(0, len(group), most)
    ]


def _share(rights: list[bool]) -> float:
    return sum(rights) / max(len(rights), 1)


def _mean(values: list[float]) -> float:
    return sum(values) / max(len(values), 1)


if __name__ == "__main__":
    main()
