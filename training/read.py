"""Stage 1: the vision tower learns to read. Resumable; run as `python -m training.read --minutes 60`."""

from __future__ import annotations

import argparse
import random as random_module
import time
from pathlib import Path

import numpy as np

from training.feed import Feed
from training.parallel import Peers, run
from training.reading import CROPS, cut, make_sheet
from training.run_folder import RunFolder

HELD_OUT_SEED = 2**41


def main() -> None:
    arguments = _parse()
    run(arguments.processes, lambda peers: train(arguments, peers))


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--run", type=Path, default=Path("runs/read"))
    parser.add_argument("--profile", choices=("narrow", "wide"), default="narrow", help="which print to read")
    parser.add_argument("--minutes", type=float, default=60, help="length of the whole schedule")
    parser.add_argument("--processes", type=int, default=2, help="share each batch between so many processes")
    parser.add_argument("--threads", type=int, default=1, help="threads of each process")
    parser.add_argument("--rate", type=float, default=3e-3)
    parser.add_argument("--fall-from", type=float, default=0.5, help="share of the run after which the rate falls")
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--vision-init", type=Path, help="go on from the state of another run of either stage")
    return parser.parse_args()


def train(arguments: argparse.Namespace, peers: Peers) -> None:
    """One process of the run; the first one logs and saves."""
    folder = RunFolder(arguments.run)

    import torch

    state = folder.load()
    first = arguments.first_seed if state is None else state["next_index"]
    feed = Feed(lambda index, progress: make_sheet(index, arguments.profile), first + peers.rank, stride=peers.count)

    from forklift.model.vision import VisionTower
    from training.compiling import compile_blocks
    from training.initialise import initialise_vision
    from training.labels import END, IGNORED
    from training.nano import nano_config
    from training.optimizer import Optimizer, learning_rate_factor
    from training.reader import ReadingHead, embed_grey, reading_state

    torch.set_num_threads(arguments.threads)
    torch.manual_seed(0)
    specials = ("<|image_pad|>", "<|video_pad|>", "<|vision_start|>", "<|vision_end|>", "<|endoftext|>", "<|im_end|>")
    config = nano_config(512, dict.fromkeys(specials, 0)).vision
    tower, head = VisionTower(config), ReadingHead(config.out_hidden_size)
    initialise_vision(tower)
    optimizer = Optimizer([([*tower.named_parameters(), *head.named_parameters("reading_head")], arguments.rate)])
    compile_blocks(tower)
    step, seconds = 0, 0.0
    if state is not None:
        tower.load_state_dict(state["vision"])
        head.load_state_dict(state["head"])
        optimizer.load_state_dict(state["optimizer"])
        step, seconds = state["step"], state["seconds"]
    elif arguments.vision_init is not None:
        seeing, naming = reading_state(arguments.vision_init)
        tower.load_state_dict(seeing)
        head.load_state_dict(naming)

    def batch(sheets: list[tuple[np.ndarray, np.ndarray]], crop: tuple[int, int, int], random: random_module.Random):
        width, height, count = crop
        patches, labels = zip(
            *(cut(*random.choice(sheets), width, height, random) for _ in range(-(-count // peers.count))), strict=True
        )
        return torch.from_numpy(np.stack(patches)), torch.from_numpy(np.stack(labels).astype(np.int64)).flatten(0, 1)

    held_out_random = random_module.Random(1)
    held_out_sheets = [make_sheet(HELD_OUT_SEED + index, arguments.profile) for index in range(6)]
    held_out = [(crop, batch(held_out_sheets, crop, held_out_random)) for crop in CROPS]

    def evaluate() -> str:
        parts = []
        with torch.no_grad(), torch.compiler.set_stance("force_eager"):
            for (width, height, _), (patches, labels) in held_out:
                tokens = embed_grey(tower, patches, height // 16, width // 16, torch.bfloat16).flatten(0, 1)
                predicted = head(tokens).argmax(-1)
                known = labels != IGNORED
                printed = known & (labels != END)
                right = (predicted == labels) | ~known
                cells = printed.any(-1)
                parts.append(
                    f"{width}x{height} {(predicted == labels)[printed].float().mean():.4f}"
                    f"/{right.all(-1)[cells].float().mean():.3f}"
                )
        return "held out characters/cells " + " ".join(parts)

    def save() -> None:
        folder.save(
            {
                "vision": tower.state_dict(),
                "head": head.state_dict(),
                "optimizer": optimizer.state_dict(),
                "step": step,
                "seconds": seconds,
                "next_index": feed.next_index,
            }
        )

    random = random_module.Random(step * peers.count + peers.rank)
    together = random_module.Random(step)  # what all processes choose alike
    sheets: list[tuple[np.ndarray, np.ndarray]] = []
    loss_average = right_average = None
    last = last_save = time.monotonic()
    budget = arguments.minutes * 60
    while seconds < budget:
        progress = seconds / budget
        while len(sheets) < 4 or (feed.waiting and random.random() < 0.7):
            sheet = feed.get(progress)
            if len(sheets) < 400:
                sheets.append(sheet)
            else:
                sheets[random.randrange(len(sheets))] = sheet
        weights = (0.5, 0.3, 0.2) if progress < 0.5 else (0.4, 0.25, 0.35)
        crop = together.choices(CROPS, weights)[0]
        patches, labels = batch(sheets, crop, random)
        tokens = embed_grey(tower, patches, crop[1] // 16, crop[0] // 16, torch.bfloat16)
        loss, right, _ = head.loss(tokens.flatten(0, 1), labels)
        loss.backward()
        peers.average_gradients(optimizer.parameters)
        optimizer.step(learning_rate_factor(step, progress, warm_up=60, fall_from=arguments.fall_from))
        step += 1
        now = time.monotonic()
        seconds += peers.agree(min(now - last, 20.0))  # compiling is not training
        last = now
        loss_average = loss.item() if loss_average is None else 0.95 * loss_average + 0.05 * loss.item()
        right_average = right if right_average is None else 0.95 * right_average + 0.05 * right
        if step % 50 == 0 and peers.rank == 0:
            folder.say(
                f"{seconds:.0f} s step {step} sheets {feed.next_index} loss {loss_average:.4f} "
                f"characters {right_average:.4f}"
            )
        if step % 600 == 0 and peers.rank == 0:
            folder.say(f"  {seconds:.0f} s {evaluate()}")
        if now - last_save > 120 and peers.rank == 0:
            save()
            last_save = now
    if peers.rank == 0:
        save()
        folder.say(f"done {step} steps {seconds:.0f} s {evaluate()}")
    feed.close()


if __name__ == "__main__":
    main()
