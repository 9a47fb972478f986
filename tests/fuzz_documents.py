"""Damaged documents without end: `python -m tests.fuzz_documents --minutes 30`.

Every case is a sound document that was cut, flipped, spliced or given mad numbers; its seed says how. Reading it has to
end in page images and words, or in a ForkliftError: no crash, no other exception, at most --seconds of processor time
and --megabytes of memory. Cases run in a process of their own, which is started anew after a crash. The seeds of what
failed are printed, and their files kept; `--seed N` does one case in the foreground.
"""

from __future__ import annotations

import argparse
import io
import os
import random
import re
import select
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
import zlib
from collections import Counter
from pathlib import Path

from PIL import Image, ImageDraw
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from forklift.documents import Document, Limits, PagePolicy
from forklift.errors import ForkliftError
from tests.made_documents import half_black, raw_pdf, stream_of, write_pdf

LIMITS = Limits(max_pages=2000, max_picture_pixels=10_000_000)
PAGES_READ = 4
WALL_SECONDS = 300  # without a sign of life, whatever else the machine does
ADDRESS_SPACE = 8 << 30  # so that a failure does not take the machine along


def write_corpus(folder: Path) -> list[Path]:
    """Sound documents of many kinds, the same each time."""
    page = Image.new("RGB", (300, 400), "white")
    drawing = ImageDraw.Draw(page)
    for line in range(12):
        drawing.text((20, 20 + 30 * line), f"Item {line}   {line * 7.5:.2f} EUR", fill=(10 * line, 0, 80))
    pictures: dict[str, tuple[Image.Image, dict[str, object]]] = {
        "rgb.png": (page, {}),
        "grey.png": (page.convert("L"), {}),
        "palette.png": (page.convert("P"), {"transparency": 0}),
        "alpha.png": (page.convert("RGBA"), {}),
        "deep.png": (page.convert("L").convert("I;16"), {}),
        "fax.png": (page.convert("1"), {}),
        "moving.png": (page, {"save_all": True, "append_images": [half_black("RGB", (300, 400))]}),
        "rgb.jpg": (page, {}),
        "steps.jpg": (page, {"progressive": True, "exif": exif_of(6)}),
        "cmyk.jpg": (page.convert("CMYK"), {}),
        "raw.tif": (page, {}),
        "lzw.tif": (page, {"compression": "tiff_lzw", "exif": exif_of(8)}),
        "deflate.tif": (page.convert("L"), {"compression": "tiff_adobe_deflate"}),
        "jpeg.tif": (page, {"compression": "jpeg"}),
        "group3.tif": (page.convert("1"), {"compression": "group3"}),
        "group4.tif": (page.convert("1"), {"compression": "group4", "dpi": (204, 98)}),
        "frames.tif": (page, {"save_all": True, "append_images": [half_black("L", (99, 50)), page]}),
        "a.webp": (page, {}),
        "a.gif": (page.convert("P"), {"save_all": True, "append_images": [half_black("P", (300, 400))]}),
        "a.bmp": (page.convert("P"), {}),
        "a.jp2": (page, {}),
        "a.avif": (page, {}),
    }
    for name, (picture, options) in pictures.items():
        picture.save(folder / name, **options)  # type: ignore[arg-type]
    write_pdf(folder / "text.pdf", 3)
    write_pdf(folder / "locked.pdf", 2, encrypt=StandardEncryption("", "owner", strength=128))
    write_pdf(folder / "form.pdf", 1, draw=fill_form)
    write_pdf(folder / "pictures.pdf", 2, draw=lambda canvas: place_pictures(canvas, page))
    (folder / "annotations.pdf").write_bytes(
        raw_pdf(
            "/MediaBox [0 0 200 200] /Rotate 90 /CropBox [0 0 150 150] /Annots ["
            "<< /Type /Annot /Subtype /Square /Rect [10 10 90 90] /C [1 0 0] /IC [0 1 0] /F 4 >> "
            "<< /Type /Annot /Subtype /FreeText /Contents (Paid) /DA (/Helv 20 Tf 0 g) /Rect [20 90 99 140] /F 4 >>]"
        )
    )
    (folder / "object_streams.pdf").write_bytes(pdf_of_object_streams())
    return sorted(folder.iterdir())


def exif_of(orientation: int) -> Image.Exif:
    exif = Image.Exif()
    exif[0x0112] = orientation
    return exif


def fill_form(canvas: Canvas) -> None:
    canvas.acroForm.textfield(name="total", value="12.50", x=50, y=200, width=90, height=30)
    canvas.acroForm.checkbox(name="paid", checked=True, x=50, y=150)


def place_pictures(canvas: Canvas, page: Image.Image) -> None:
    canvas.drawImage(ImageReader(page), 20, 100, 80, 100)
    jpeg = io.BytesIO()
    page.save(jpeg, "JPEG")
    canvas.drawImage(ImageReader(jpeg), 110, 100, 80, 100, mask=None)
    canvas.linearGradient(0, 0, 200, 50, ((1, 0, 0), (0, 0, 1)))


def pdf_of_object_streams() -> bytes:
    """A PDF 1.5 whose objects lie in a compressed stream, found by a compressed table."""
    inner = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 300] /Contents 4 0 R /Resources << /Font << /F 5 0 R >> >> >>",
    ]
    index, text = "", ""
    for number, entry in enumerate(inner, 1):
        index += f"{number} {len(text)} "
        text += entry + " "
    content = zlib.compress(b"0 0 20 20 re f BT /F 20 Tf 30 90 Td (Total 12.50 EUR) Tj ET")
    objects = {
        4: stream_of(content, "/Filter /FlateDecode"),
        5: b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        6: stream_of(
            zlib.compress((index + text).encode()), f"/Type /ObjStm /N 3 /First {len(index)} /Filter /FlateDecode"
        ),
    }
    body, offsets = bytearray(b"%PDF-1.5\n"), {}
    for number, content in objects.items():
        offsets[number] = len(body)
        body += f"{number} 0 obj\n".encode() + content + b"\nendobj\n"
    rows = [(0, 0, 255), *((2, 6, place) for place in range(3)), *((1, offsets[n], 0) for n in (4, 5, 6))]
    rows.append((1, len(body), 0))
    table = b"".join(bytes([kind]) + at.to_bytes(2, "big") + bytes([more]) for kind, at, more in rows)
    entries = "/Type /XRef /Size 8 /W [1 2 1] /Root 1 0 R /Filter /FlateDecode"
    start = len(body)
    body += b"7 0 obj\n" + stream_of(zlib.compress(table), entries) + b"\nendobj\n"
    return bytes(body) + f"startxref\n{start}\n%%EOF\n".encode()


_MAD_NUMBERS = [b"0", b"-1", b"1", b"255", b"65536", b"99999999", b"2147483647", b"-2147483648", b"4294967296", b"1e38"]


def damaged(seed: int, corpus: list[Path]) -> tuple[str, bytes]:
    """The name and content of case `seed`: a document of the corpus after one to three kinds of damage."""
    chance = random.Random(seed)
    path = chance.choice(corpus)
    content = bytearray(path.read_bytes())
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        size = max(1, len(content))
        place, length = chance.randrange(size), chance.randint(1, max(1, size // chance.choice((2, 10, 100))))
        kind = chance.choice(("cut", "flip", "flip", "bytes", "bytes", "splice", "drop", "repeat", "zero", "numbers"))
        if kind == "cut":
            del content[place:]
        elif kind == "flip":
            for _ in range(chance.choice((1, 3, 20))):
                if content:
                    content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
        elif kind == "bytes":
            for at in range(place, min(place + chance.choice((1, 2, 4, 16)), len(content))):
                content[at] = chance.choice((0, 1, 0x7F, 0x80, 0xFF, chance.randrange(256)))
        elif kind == "splice":
            other = chance.choice(corpus).read_bytes()
            start = chance.randrange(len(other))
            content[place : place + length] = other[start : start + chance.randint(1, len(other))]
        elif kind == "drop":
            del content[place : place + length]
        elif kind == "repeat":
            content[place:place] = content[place : place + length] * chance.randint(1, 3)
        elif kind == "zero":
            content[place : place + length] = bytes(len(content[place : place + length]))
        else:
            numbers = list(re.finditer(rb"\d+", content))
            for match in sorted(chance.sample(numbers, min(len(numbers), 3)), key=lambda one: -one.start()):
                content[match.start() : match.end()] = chance.choice(_MAD_NUMBERS)
    if path.suffix == ".png" and chance.random() < 0.7:
        mend_checksums(content)
    return path.name, bytes(content)


def mend_checksums(content: bytearray) -> None:
    """Make the checksum of each chunk of a PNG right, so that its decoder gets to see the damage."""
    place = 8
    while place + 12 <= len(content):
        length = int.from_bytes(content[place : place + 4], "big")
        end = place + 8 + length
        if end + 4 > len(content):
            break
        content[end : end + 4] = zlib.crc32(content[place + 4 : end]).to_bytes(4, "big")
        place = end + 4


def read(path: Path) -> str:
    """Read the first pages of a document; says how it ended: "read", or the name of the ForkliftError."""
    try:
        with Document.open(path, limits=LIMITS) as document:
            for page in document.pages[:PAGES_READ]:
                image = page.render(PagePolicy())
                assert image.mode == "RGB"
                assert image.width * image.height <= PagePolicy().max_pixels
                page.words()
                width, height = page.size
                assert width > 0
                assert height > 0
    except ForkliftError as error:
        return type(error).__name__
    return "read"


def memory_in_use(entry: str) -> int:
    """Bytes of this process: "VmRSS" now, "VmHWM" at the most since the last reset."""
    with open("/proc/self/status", encoding="ascii") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith(entry))


def do_cases(seeds: range, folder: Path, seconds: int, megabytes: int) -> None:
    """What the child does: each case after its seed is told, then how it ended; processor time ends the process."""
    import resource  # where there is none, the tests that borrow from here still run

    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    corpus = sorted((folder / "corpus").iterdir())
    path = folder / "case"
    for seed in seeds:
        print(f"case {seed}", flush=True)
        _, content = damaged(seed, corpus)
        path.write_bytes(content)
        Path("/proc/self/clear_refs").write_text("5")  # the peak counts from here
        before = memory_in_use("VmRSS")
        signal.setitimer(signal.ITIMER_PROF, seconds)
        try:
            ended = read(path)
        except Exception:
            ended = "FAILED " + traceback.format_exc().strip().replace("\n", " | ")[-600:]
        signal.setitimer(signal.ITIMER_PROF, 0)
        grown = (memory_in_use("VmHWM") - before) >> 20
        if grown > megabytes:
            ended = f"FAILED took {grown} MB"
        print(f"end {ended}", flush=True)


def run_child(
    first: int, count: int, folder: Path, options: argparse.Namespace, until: float
) -> tuple[int, Counter[str], str]:
    """Cases from `first` on in one process. Returns the next seed to do, how cases ended, and the failure, if any."""
    words = [sys.executable, "-m", "tests.fuzz_documents", "--child", str(first), str(count), str(folder)]
    words += ["--seconds", str(options.seconds), "--megabytes", str(options.megabytes)]
    ends: Counter[str] = Counter()
    seed, pending = first, False
    with (folder / "stderr").open("wb") as errors:
        child = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=errors)
    assert child.stdout is not None
    try:
        while True:
            if not select.select([child.stdout], [], [], WALL_SECONDS)[0]:
                return seed + 1, ends, f"seed {seed}: nothing for {WALL_SECONDS} seconds"
            line = child.stdout.readline().decode()
            if not line:
                break
            word, _, rest = line.strip().partition(" ")
            if word == "case":
                seed, pending = int(rest), True
                continue
            pending = False
            if rest.startswith("FAILED"):
                return seed + 1, ends, f"seed {seed}: {rest}"
            ends[rest] += 1
            if time.monotonic() > until:
                return seed + 1, ends, ""
    finally:
        child.kill()
        code = child.wait()
    if not pending and code == 0:
        return first + count, ends, ""
    why = f"more than {options.seconds} s" if code == -signal.SIGPROF else f"the process ended with {code}"
    tail = (folder / "stderr").read_bytes()[-300:].decode(errors="replace").strip()
    return seed + 1, ends, f"seed {seed}: {why} {tail}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--seed", type=int, help="do this one case in the foreground, and keep its file")
    parser.add_argument("--keep", type=Path, default=Path("fuzz-failures"), help="where files that failed are kept")
    parser.add_argument("--seconds", type=int, default=20, help="processor time for a case")
    parser.add_argument("--megabytes", type=int, default=512, help="memory for a case")
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        first, count, place = options.child
        do_cases(range(int(first), int(first) + int(count)), Path(place), options.seconds, options.megabytes)
        return 0
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "corpus").mkdir()
        corpus = write_corpus(folder / "corpus")
        if options.seed is not None:
            return do_one(options.seed, corpus, options.keep)
        return do_many(folder, corpus, options)


def do_one(seed: int, corpus: list[Path], keep: Path) -> int:
    path = kept_case(seed, corpus, keep)
    start = time.process_time()
    ended = read(path)
    print(f"{path}: {ended}, {time.process_time() - start:.2f} s, at most {memory_in_use('VmHWM') >> 20} MB")
    return 0


def kept_case(seed: int, corpus: list[Path], keep: Path) -> Path:
    keep.mkdir(parents=True, exist_ok=True)
    name, content = damaged(seed, corpus)
    path = keep / f"{seed}-{name}"
    path.write_bytes(content)
    return path


def do_many(folder: Path, corpus: list[Path], options: argparse.Namespace) -> int:
    start = time.monotonic()
    until = start + options.minutes * 60
    ends: Counter[str] = Counter()
    failures: list[str] = []
    seed = options.first
    while time.monotonic() < until:
        seed, of_child, failure = run_child(seed, 1000, folder, options, until)
        ends += of_child
        if failure:
            failures.append(failure)
            failed = int(failure.split()[1].rstrip(":"))
            print(f"{failure} (kept as {kept_case(failed, corpus, options.keep)})", flush=True)
    print(
        f"seeds {options.first} to {seed - 1} in {(time.monotonic() - start) / 60:.1f} minutes: "
        f"{dict(ends.most_common())}, {len(failures)} failed"
    )
    return 1 if failures else 0


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    raise SystemExit(main())
