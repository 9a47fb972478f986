"""Page ranges such as "1-3,5", as people write them."""

from __future__ import annotations

import re

from forklift.errors import PageRangeError

PAGE_RANGE_FORMS = 'such as "3", "1-3", "1-3,5" or "5-" (to the end); pages count from 1'


def parse_page_ranges(text: str) -> tuple[tuple[int, int | None], ...]:
    """Read "1-3,5,7-" as ((1, 3), (5, 5), (7, None)); en dashes and spaces are accepted.

    Raises PageRangeError, naming the part that cannot be read.
    """
    ranges: list[tuple[int, int | None]] = []
    for part in text.split(","):
        match = re.fullmatch(r"\s*([0-9]{1,9})\s*(?:([-\u2010-\u2014\u2212])\s*([0-9]{1,9})?)?\s*", part)
        if match is None:
            where = f" (at {part.strip()!r})" if part.strip() and part.strip() != text.strip() else ""
            empty = " has an empty part;" if not part.strip() else ""
            raise PageRangeError(
                f'page range "{text}"{where}{empty} is not understood; give ranges {PAGE_RANGE_FORMS}.'
            )
        first = int(match[1])
        last = int(match[3]) if match[3] else (None if match[2] else first)
        if first < 1:
            raise PageRangeError(f'page range "{text}" names page 0; give ranges {PAGE_RANGE_FORMS}.')
        if last is not None and last < first:
            raise PageRangeError(
                f'page range "{text}" runs backwards ({first} to {last}); write {last}-{first}. '
                f"Ranges are {PAGE_RANGE_FORMS}."
            )
        ranges.append((first, last))
    return tuple(ranges)


def select_pages(ranges: tuple[tuple[int, int | None], ...] | None, page_count: int, name: str) -> tuple[int, ...]:
    """The 1-based page numbers that `ranges` select, each once, in page order; all of them for None.

    Raises PageRangeError when a range reaches beyond the last page.
    """
    if ranges is None:
        return tuple(range(1, page_count + 1))
    selected: set[int] = set()
    for first, last in ranges:
        if first > page_count or (last is not None and last > page_count):
            spelled = f"{first}" if last == first else f"{first}-{'' if last is None else last}"
            count = "1 page" if page_count == 1 else f"{page_count} pages"
            raise PageRangeError(
                f'{name}: page range "{spelled}" is outside the document, which has {count}; '
                f"give ranges {PAGE_RANGE_FORMS}."
            )
        selected.update(range(first, (page_count if last is None else last) + 1))
    return tuple(sorted(selected))
