"""Documents as if they had been printed and scanned: pictures without a text layer, a little slanted, noisy, JPEG."""

from __future__ import annotations

import io
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from PIL import Image

DOTS_PER_INCH = 130
_POINTS_PER_INCH = 72


def scanned(pdf: bytes, random: Random) -> bytes:
    """The same pages as pictures. Skew, shade, noise and quality are drawn once a document, skew varies by page."""
    import pypdfium2

    from forklift.pdf_source import PDFIUM_LOCK

    skew = random.uniform(-0.9, 0.9)  # degrees
    paper = random.randint(243, 254)
    quality = random.randint(48, 72)
    noise = np.random.default_rng(random.getrandbits(64)).normal(0.0, random.uniform(2.0, 5.0), (512, 512))
    pages: list[tuple[bytes, tuple[int, int], tuple[float, float]]] = []
    with PDFIUM_LOCK:
        document = pypdfium2.PdfDocument(pdf)
        try:
            for page in document:
                size = page.get_size()
                bitmap = page.render(scale=DOTS_PER_INCH / _POINTS_PER_INCH, grayscale=True)
                image = bitmap.to_pil().convert("L").copy()
                bitmap.close()
                page.close()
                jpeg = _worn(image, skew + random.uniform(-0.15, 0.15), paper, noise, quality, random)
                pages.append((jpeg, image.size, size))
        finally:
            document.close()
    return _pdf_of_pictures(pages)


def _worn(image: Image.Image, skew: float, paper: int, noise: Any, quality: int, random: Random) -> bytes:
    from PIL import Image as Pillow
    from PIL import ImageFilter

    turned = image.filter(ImageFilter.GaussianBlur(0.45)).rotate(skew, Pillow.Resampling.BICUBIC, fillcolor=255)
    pixels = np.asarray(turned, dtype=np.float32) * (paper / 255.0)
    height, width = pixels.shape
    grain = np.roll(noise, (random.randrange(512), random.randrange(512)), (0, 1))
    pixels += np.tile(grain, (height // 512 + 1, width // 512 + 1))[:height, :width]
    pixels += np.linspace(0.0, random.uniform(-9.0, 0.0), width)  # the lid was not quite closed
    file = io.BytesIO()
    Pillow.fromarray(np.clip(pixels, 0, 255).astype(np.uint8)).save(file, "JPEG", quality=quality)
    return file.getvalue()


def _pdf_of_pictures(pages: list[tuple[bytes, tuple[int, int], tuple[float, float]]]) -> bytes:
    """A PDF of one grey JPEG a page: (file, width and height in pixels, width and height in points)."""
    objects: list[bytes] = [b"<< /Type /Catalog /Pages 2 0 R >>", b""]
    for jpeg, (width, height), (page_width, page_height) in pages:
        number = len(objects) + 1
        content = f"q {page_width:g} 0 0 {page_height:g} 0 0 cm /Scan Do Q".encode()
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {page_width:g} {page_height:g}] /Contents {number + 1} 0 R "
            f"/Resources << /XObject << /Scan {number + 2} 0 R >> >> >>".encode()
        )
        objects.append(f"<< /Length {len(content)} >>\nstream\n".encode() + content + b"\nendstream")
        objects.append(
            f"<< /Type /XObject /Subtype /Image /Width {width} /Height {height} /ColorSpace /DeviceGray "
            f"/BitsPerComponent 8 /Filter /DCTDecode /Length {len(jpeg)} >>\nstream\n".encode()
            + jpeg
            + b"\nendstream"
        )
    kids = " ".join(f"{3 + 3 * index} 0 R" for index in range(len(pages)))
    objects[1] = f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode()
    out = io.BytesIO()
    out.write(b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n")
    places = []
    for index, body in enumerate(objects, start=1):
        places.append(out.tell())
        out.write(f"{index} 0 obj\n".encode() + body + b"\nendobj\n")
    start = out.tell()
    out.write(f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode())
    out.write(b"".join(f"{place:010d} 00000 n \n".encode() for place in places))
    out.write(f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n".encode())
    return out.getvalue()
