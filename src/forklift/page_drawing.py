"""The drawing of an annotated page: boxes and tags on the page, strips above, beside and below it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from forklift.page_space import Rectangle

if TYPE_CHECKING:
    from PIL import Image

Colour = tuple[int, int, int]

_INK, _QUIET, _STRIP, _RULE, _WHITE = (15, 23, 42), (71, 85, 105), (244, 246, 249), (203, 210, 220), (255, 255, 255)
# Pillow's own font knows basic Latin letters only.
_FONT_FILES = ("DejaVuSans.ttf", "NotoSans-Regular.ttf", "Arial Unicode.ttf", "Arial.ttf", "arial.ttf", "Helvetica.ttc")
_MARGIN_SHARE = 0.45  # of the page's width, for the strip beside it at most


@dataclass(frozen=True)
class Segment:
    """A piece of text in one colour."""

    text: str
    colour: Colour


@dataclass(frozen=True)
class Fonts:
    """small: names and lists; large: the title. height: of a line of `small`, in pixels."""

    small: Any
    large: Any
    height: int


def page_fonts(page_width: int) -> Fonts:
    """Fonts that are legible when the whole page is looked at. page_width: in pixels."""
    size = max(12, round(page_width / 85))
    return Fonts(_font(size), _font(round(size * 1.35)), round(size * 1.35))


@dataclass(frozen=True)
class _Callout:
    """A line of the strip beside the page. box: what it speaks of."""

    box: Rectangle
    segments: tuple[Segment, ...]


class Drawing:
    """Draws on a copy of `image`; `finished` puts the strips around it."""

    def __init__(self, image: Image.Image, fonts: Fonts) -> None:
        from PIL import Image, ImageDraw

        self._image = image
        self._fonts = fonts
        self._overlay = Image.new("RGBA", image.size)
        self._draw = ImageDraw.Draw(self._overlay)
        self._callouts: list[_Callout] = []

    def box(self, box: Rectangle, colour: Colour) -> None:
        """An outline around `box`, and a tint that leaves its print legible."""
        self._draw.rectangle(_corners(box), fill=(*colour, 30), outline=(*colour, 255), width=2)

    def tag_size(self, text: str) -> tuple[int, int]:
        """Width and height in pixels of a tag that says `text`."""
        return round(self._fonts.small.getlength(text)) + self._pad * 2, self._fonts.height

    def tag(self, place: Rectangle, segment: Segment) -> None:
        """Text in white on its colour, filling `place`."""
        self._draw.rounded_rectangle(_corners(place), radius=3, fill=(*segment.colour, 255))
        self._draw.text(
            (place.left + self._pad, place.middle),
            segment.text,
            fill=(*_WHITE, 255),
            font=self._fonts.small,
            anchor="lm",
        )

    def callout(self, box: Rectangle, segments: Sequence[Segment]) -> None:
        """Text in the strip beside the page, as near to the height of `box` as the others leave room."""
        self._callouts.append(_Callout(box, tuple(segments)))

    def finished(
        self, title: str, legend: Sequence[Segment], lists: Sequence[tuple[str, Sequence[Segment]]]
    ) -> Image.Image:
        """The whole picture, RGB. lists: for the strip below, each a heading and its entries."""
        from PIL import Image, ImageDraw

        height, pad = self._fonts.height, self._pad
        callouts = sorted(self._callouts, key=lambda callout: callout.box.middle)
        widest = max((self._width(callout.segments) for callout in callouts), default=0)
        margin = min(widest + 5 * pad, round(self._image.width * _MARGIN_SHARE)) if callouts else 0
        full_width = self._image.width + margin
        legend_below = (
            self._fonts.large.getlength(title) + self._width(legend) + 3 * height * len(legend) > full_width - 2 * pad
        )
        head = round(height * (3.4 if legend_below else 2))
        tops = self._spread(callouts)
        page_bottom = head + max(self._image.height, round(tops[-1]) + height + pad if tops else 0)
        lines = self._wrapped(lists, full_width - 4 * pad)
        foot = len(lines) * height + 3 * pad if lines else 0

        picture = Image.new("RGB", (full_width, page_bottom + foot), _STRIP)
        page = self._image.convert("RGBA")
        page.alpha_composite(self._overlay)
        picture.paste(page.convert("RGB"), (0, head))
        draw = ImageDraw.Draw(picture)
        draw.line((0, head - 1, full_width, head - 1), fill=_RULE)
        if margin:
            draw.line((self._image.width, head, self._image.width, page_bottom), fill=_RULE)
        self._draw_head(draw, title, legend, full_width, legend_below)
        for callout, top in zip(callouts, tops, strict=True):
            self._draw_callout(draw, callout, head, head + top, margin)
        if lines:
            draw.line((0, page_bottom, full_width, page_bottom), fill=_RULE)
        for index, line in enumerate(lines):
            self._draw_line(draw, 2 * pad, page_bottom + pad + (index + 0.7) * height, line)
        return picture

    @property
    def _pad(self) -> int:
        return max(3, self._fonts.height // 4)

    def _draw_head(self, draw: Any, title: str, legend: Sequence[Segment], full_width: int, legend_below: bool) -> None:
        height, pad = self._fonts.height, self._pad
        room = full_width - 4 * pad
        draw.text(
            (2 * pad, height),
            self._shortened(title, room, self._fonts.large),
            fill=_INK,
            font=self._fonts.large,
            anchor="lm",
        )
        x = float(2 * pad)
        if not legend_below:
            x = full_width - 2 * pad - sum(self._fonts.small.getlength(one.text) + 2.4 * height for one in legend)
        y = height * (2.5 if legend_below else 1)
        side = height * 0.55
        for one in legend:
            x += height * 0.6
            draw.rectangle((x, y - side / 2, x + side, y + side / 2), fill=one.colour)
            x += height * 0.9
            draw.text((x, y), one.text, fill=_QUIET, font=self._fonts.small, anchor="lm")
            x += self._fonts.small.getlength(one.text) + height * 0.9

    def _draw_callout(self, draw: Any, callout: _Callout, head: int, top: float, margin: int) -> None:
        height, pad = self._fonts.height, self._pad
        edge = self._image.width
        colour = callout.segments[-1].colour
        # Along the lower edge of the box, between two lines of print, so that nothing is struck through.
        level = head + callout.box.bottom
        middle = top + height / 2
        draw.line((callout.box.right, level, edge, level), fill=colour)
        draw.line((edge, level, edge + 2 * pad, middle), fill=colour)
        self._draw_line(draw, edge + 3 * pad, middle, self._fitting(callout.segments, margin - 4 * pad))

    def _draw_line(self, draw: Any, x: float, middle: float, segments: Sequence[Segment]) -> None:
        for segment in segments:
            draw.text((x, middle), segment.text, fill=segment.colour, font=self._fonts.small, anchor="lm")
            x += self._fonts.small.getlength(segment.text) + self._gap

    @property
    def _gap(self) -> float:
        return self._fonts.height * 0.6

    def _width(self, segments: Sequence[Segment]) -> int:
        return round(sum(self._fonts.small.getlength(one.text) + self._gap for one in segments))

    def _spread(self, callouts: Sequence[_Callout]) -> list[float]:
        """Tops of the callouts, in order, none over another, as near to their boxes as that allows."""
        height = self._fonts.height
        tops: list[float] = []
        for callout in callouts:
            wanted = callout.box.middle - height / 2
            tops.append(max(wanted, tops[-1] + height) if tops else max(0.0, wanted))
        limit = float(self._image.height - height)
        for index in reversed(range(len(tops))):  # pushed past the end of the page: move up while there is room
            tops[index] = max(index * height, min(tops[index], limit))
            limit = tops[index] - height
        return tops

    def _fitting(self, segments: Sequence[Segment], room: float) -> list[Segment]:
        """As many segments as fit, the last one cut."""
        fitting = []
        for segment in segments:
            text = self._shortened(segment.text, room, self._fonts.small)
            if text:
                fitting.append(Segment(text, segment.colour))
            room -= self._fonts.small.getlength(segment.text) + self._gap
            if text != segment.text:
                break
        return fitting

    def _shortened(self, text: str, room: float, font: Any) -> str:
        if font.getlength(text) <= room:
            return text
        while text and font.getlength(text + "…") > room:
            text = text[:-1]
        return text + "…" if text else ""

    def _wrapped(self, lists: Sequence[tuple[str, Sequence[Segment]]], room: float) -> list[list[Segment]]:
        lines: list[list[Segment]] = []
        for heading, entries in lists:
            lines.append([Segment(heading, _INK)])
            line: list[Segment] = []
            indent = Segment(" ", _INK)
            for entry in entries:
                if line and self._width([*line, entry]) > room:
                    lines.append(line)
                    line = []
                if not line:
                    line = [indent]
                text = self._shortened(entry.text, room - self._width([indent]), self._fonts.small)
                line.append(Segment(text, entry.colour))
            lines.append(line)
        return lines


def _corners(box: Rectangle) -> tuple[float, float, float, float]:
    return (box.left, box.top, max(box.left, box.right), max(box.top, box.bottom))


@lru_cache(maxsize=16)
def _font(size: int) -> Any:
    from PIL import ImageFont

    for name in _FONT_FILES:
        try:
            return ImageFont.truetype(name, size)
        except OSError:
            continue
    return ImageFont.load_default(size)
