"""Annotated pages: boxes are on the values, labels cover nothing, and what has no place is listed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageDraw

from forklift import page_drawing
from forklift.annotate import annotate_page, confidence_colour, short_names
from forklift.page_drawing import Drawing
from forklift.page_space import FreeSpace, Rectangle
from forklift.results import Box, Citation, Field, Outcome, Result

SIZE = (600, 800)


def citation(left: float, top: float, right: float, bottom: float, page: int = 1) -> Citation:
    """In pixels of the test's page."""
    box = Box(left, top, right, bottom)
    relative = Box(left / SIZE[0], top / SIZE[1], right / SIZE[0], bottom / SIZE[1])
    return Citation(page, box, relative, "")


def result(*fields: Field, **more: Any) -> Result:
    return Result({}, Outcome.COMPLETE, fields, pages=(1, 2), **more)


@pytest.fixture
def page() -> Image.Image:
    """White, with three black "words": two above each other without a gap for a label, one far from all."""
    image = Image.new("RGB", SIZE, "white")
    draw = ImageDraw.Draw(image)
    for box in ((100, 100, 200, 120), (100, 300, 200, 320), (100, 324, 200, 344)):
        draw.rectangle(box, fill="black")
    return image


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[Any]]:
    """What was written, and where: tags on the page, callouts beside it, lists below."""
    written: dict[str, list[Any]] = {"tags": [], "callouts": [], "lists": []}
    real_tag, real_callout, real_finished = Drawing.tag, Drawing.callout, Drawing.finished

    def tag(self: Drawing, place: Rectangle, segment: Any) -> None:
        written["tags"].append((segment.text, place))
        real_tag(self, place, segment)

    def callout(self: Drawing, box: Rectangle, segments: Any) -> None:
        written["callouts"].append([segment.text for segment in segments])
        real_callout(self, box, segments)

    def finished(self: Drawing, title: str, legend: Any, lists: Any) -> Image.Image:
        written["lists"] = [(head, [entry.text for entry in entries]) for head, entries in lists]
        return real_finished(self, title, legend, lists)

    for name, function in (("tag", tag), ("callout", callout), ("finished", finished)):
        monkeypatch.setattr(Drawing, name, function)
    return written


def page_part(picture: Image.Image, page: Image.Image) -> np.ndarray[Any, Any]:
    """The page inside the picture: below the head strip, which is as high as what is not page at the left."""
    pixels = np.asarray(picture)
    top = int(np.argmax((pixels[:, 0] == 255).all(axis=1)))  # the page's own margin is white, the strips are not
    return pixels[top : top + page.height, : page.width]


def test_boxes_have_the_colour_of_their_confidence_and_stand_around_their_values(page: Image.Image) -> None:
    fields = [
        Field("/a", "x", 0.95, (citation(100, 100, 200, 120),)),
        Field("/b", "y", 0.3, (citation(100, 300, 200, 320),)),
    ]
    drawn = page_part(annotate_page(page, result(*fields), 1, "a.pdf"), page)
    assert tuple(drawn[98, 150]) == confidence_colour(0.95)  # the upper edge, two pixels above the words
    assert tuple(drawn[322, 150]) == confidence_colour(0.3)
    assert tuple(drawn[700, 500]) == (255, 255, 255)
    # The tint leaves print legible: dark stays dark.
    assert drawn[110, 150].max() < 80


def test_labels_never_cover_print_or_boxes(page: Image.Image, said: dict[str, list[Any]]) -> None:
    fields = [
        Field("/seller/name", "x", 0.95, (citation(100, 100, 200, 120),)),
        Field("/top", "y", 0.7, (citation(100, 300, 200, 320),)),
        Field("/bottom", "z", None, (citation(100, 324, 200, 344),)),
    ]
    drawn = page_part(annotate_page(page, result(*fields), 1, "a.pdf"), page)
    assert [text for text, _ in said["tags"]] == ["name 95 %", "top 70 %", "bottom"]
    places = [place for _, place in said["tags"]]
    boxes = [Rectangle(98, 98, 202, 122), Rectangle(98, 298, 202, 322), Rectangle(98, 322, 202, 346)]
    for place in places:
        assert not any(place.overlaps(box) for box in boxes)
    assert not any(one.overlaps(other) for one in places for other in places if one is not other)
    black = np.asarray(page).max(axis=2) == 0
    assert drawn[black].max() < 80  # every printed pixel is still dark


def test_a_label_without_room_goes_to_the_margin(said: dict[str, list[Any]]) -> None:
    crowded = Image.effect_noise(SIZE, 200).convert("RGB")
    picture = annotate_page(crowded, result(Field("/total", 1, 0.99, (citation(300, 300, 350, 320),))), 1, "a.pdf")
    assert said["tags"] == []
    assert said["callouts"] == [["total 99 %"]]
    assert picture.width > SIZE[0]


def test_the_values_of_one_element_share_a_line_in_the_margin(page: Image.Image, said: dict[str, list[Any]]) -> None:
    fields = [
        Field("/items/0/amount", 1, 0.5, (citation(400, 401, 440, 420),)),
        Field("/items/0/text", "x", 0.99, (citation(100, 400, 140, 420),)),
        Field("/items/0/note", "x", 0.99, (citation(100, 440, 140, 460),)),  # on the next line
        Field("/items/1/text", "y", 0.99, (citation(100, 500, 140, 520),)),
        Field("/tags/0", "y", 0.99, (citation(100, 600, 140, 620),)),  # an element that is a value itself
    ]
    annotate_page(page, result(*fields), 1, "a.pdf")
    assert said["callouts"] == [["items/0:", "text", "amount 50 %"], ["items/0:", "note"], ["items/1:", "text"]]
    assert [text for text, _ in said["tags"]] == ["tags/0 99 %"]


def test_what_has_no_place_is_listed_below_the_first_page_alone(page: Image.Image, said: dict[str, list[Any]]) -> None:
    fields = [
        Field("/number", "A1", 0.4, (), False),
        Field("/kind", "x" * 99, 0.99, (), None),
        Field("/note", None),
        Field("/date", None),
        Field("/total", 5, 0.9, (citation(1, 1, 9, 9, page=2),), True),
    ]
    annotate_page(page, result(*fields, missing=("/date",)), 1, "a.pdf")
    assert [(head.split(":")[0], entries) for head, entries in said["lists"]] == [
        ("Missing", ["date"]),
        ("Not found in the document's text", ["number = A1 40 %"]),
        ("Place not known", [f"kind = {'x' * 59}… 99 %"]),
        ("Empty", ["note"]),
    ]
    annotate_page(page, result(*fields, missing=("/date",)), 2, "a.pdf")
    assert said["lists"] == []
    assert [text for text, _ in said["tags"]] == ["total 90 %"]


def test_a_page_full_of_rows_grows_rather_than_hide_any(page: Image.Image) -> None:
    rows = [Field(f"/rows/{n}/a", n, 0.99, (citation(100, 8 * n, 140, 8 * n + 6),)) for n in range(95)]
    picture = annotate_page(page, result(*rows), 1, "a.pdf")
    assert picture.height > SIZE[1] + 95 * 2
    few = annotate_page(page, result(*rows[:5]), 1, "a.pdf")
    assert few.height < picture.height


def test_nothing_at_all_and_odd_boxes_are_drawn_too(page: Image.Image) -> None:
    assert annotate_page(page, Result(None, Outcome.TRUNCATED, pages=(1,)), 1, "名前.pdf").width == SIZE[0]
    odd = [
        Field(f"/{n}", 1, 1.0, (citation(*box),))
        for n, box in enumerate([(-5, -5, 3, 3), (590, 790, 700, 900), (50, 50, 50, 50)])
    ]
    annotate_page(page, result(*odd), 1, "a" * 300)
    annotate_page(Image.new("RGB", (20, 900)), result(*odd), 1, "thin")


def test_names_are_as_short_as_they_can_be_told_apart() -> None:
    pointers = ["/total", "/seller/name", "/buyer/name", "/items/0/price", "/items/1/price", "/tags/0", "/a~1b", ""]
    assert short_names(pointers) == {
        "/total": "total",
        "/seller/name": "seller/name",
        "/buyer/name": "buyer/name",
        "/items/0/price": "0/price",
        "/items/1/price": "1/price",
        "/tags/0": "tags/0",
        "/a~1b": "a/b",
        "": "the whole answer",
    }  # fmt: skip


def test_free_space_is_blank_paper_that_no_one_has_taken() -> None:
    image = Image.new("RGB", (200, 100), (200, 200, 190))  # grey paper
    ImageDraw.Draw(image).rectangle((0, 0, 199, 39), fill=(40, 40, 40))
    box = Rectangle(80, 50, 120, 60)
    space = FreeSpace(image, [box])
    first = space.beside(box, 40, 10)
    assert first is not None
    assert first.left == 121  # above stands print
    second = space.beside(box, 40, 10)
    assert second is not None
    assert second.right == 79
    third = space.beside(box, 40, 10)
    assert third is not None
    assert third.top == 61
    assert space.beside(box, 40, 10) is None
    assert space.beside(box, 500, 10) is None


def test_fonts_fall_back_to_pillows_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_drawing, "_FONT_FILES", ("no such font.ttf",))
    assert page_drawing._font.__wrapped__(14).getlength("total") > 10


def test_the_example_is_drawn_from_start_to_end(tmp_path: Path) -> None:
    from forklift.documents import Document
    from forklift.inputs import ANNOTATED_MARK, Input
    from forklift.outputs.annotated_pages import AnnotatedPages

    path = Path(__file__).resolve().parent.parent / "examples" / "invoice_two_pages.pdf"
    folder = AnnotatedPages(tmp_path)
    item = Input.of(path)
    with Document.open(path) as document:
        answer = Result({}, Outcome.COMPLETE, (Field("/vendor", "x", 0.9),), pages=(1, 2))
        assert not folder.has(item, answer)
        folder.write(item, document, answer)
    assert sorted(one.name for one in tmp_path.iterdir()) == [
        "invoice_two_pages.page-1.png", "invoice_two_pages.page-2.png",
    ]  # fmt: skip
    assert folder.has(item, answer)
    assert not folder.has(item, Result({}, Outcome.COMPLETE, pages=(1, 2)))
    assert ANNOTATED_MARK in (tmp_path / "invoice_two_pages.page-1.png").read_bytes()[:4096]
