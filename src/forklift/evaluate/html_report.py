"""A run, or two side by side, as one HTML page: nothing is loaded from elsewhere, so it can be mailed or kept."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from forklift.evaluate.answers import Place
from forklift.evaluate.comparison import Comparison
from forklift.evaluate.datasets import Example
from forklift.evaluate.gold_places import gold_places
from forklift.evaluate.page_pictures import PagePictures
from forklift.evaluate.page_style import STYLE
from forklift.evaluate.plots import bars, pages_against_accuracy, reliability
from forklift.evaluate.report import Run, calibration_error, counts_of
from forklift.evaluate.score import Counts
from forklift.evaluate.tables import NAMES, field_name, figures_over_documents, percent, worst_fields

MAX_PICTURES = 2_000  # of values on one page, some 8 KB each
PLOTTED_FIELDS = 40
_CARDS = tuple(NAMES)


def run_page(run: Run, examples: Sequence[Example]) -> str:
    """examples: those of the run; their documents give the pictures of what was read wrongly."""
    counts = run.counts()
    facts = f"{counts.documents:,} documents, {counts.fields:,} fields. Scored against {run.content['dataset']}."
    body = [
        f"<h1>{_text(run.name)}</h1><p>{_text(facts)}</p>",
        _cards(run),
        _mistakes(counts, run.content["near_misses"]),
        _plots(run),
        _group_table("By kind", "kind", [(row["kind"] or "(none)", counts_of(row)) for row in run.content["kinds"]]),
        _group_table("By label", "label", [(row["label"], counts_of(row)) for row in run.content["labels"]]),
        _group_table(
            "By field",
            "field",
            [(field_name(row, len(run.content["kinds"]) > 1), counts_of(row)) for row in run.content["fields"]],
        ),
        _failures(run),
        _wrong_fields(run, examples),
    ]
    return _page(f"{run.name}: extraction report", body)


def comparison_page(comparison: Comparison) -> str:
    first, second = comparison.first, comparison.second
    intro = (
        f"<h1>Two runs side by side</h1><p><span class='key series0'></span> A: {_text(first.name)}"
        f"<br><span class='key series1'></span> B: {_text(second.name)}</p>"
        f"<p>{len(first.documents):,} documents in both"
        + (f"; {len(comparison.left_out):,} are in one run only and left out" if comparison.left_out else "")
        + ".</p>"
    )
    body = [intro, _differences(comparison)]
    for title, part, name in (
        ("By kind", "kinds", "kind"),
        ("By label", "labels", "label"),
        ("By field", "fields", ""),
    ):
        rows = _side_by_side(comparison, part, name)
        if rows:
            plotted = rows if part != "fields" else _largest_changes(rows)
            note = "" if len(plotted) == len(rows) else f" <small>({len(plotted)} with the largest change)</small>"
            body.append(f"<section><h2>{title}{note}</h2>{bars(plotted, title=title)}</section>")
    if comparison.left_out:
        body.append("<p>Kinds, labels and fields are over all documents of each run.</p>")
    body.append(_changed_documents(comparison))
    return _page(f"{first.name} and {second.name}", body)


def _page(title: str, body: Iterable[str]) -> str:
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{_text(title)}</title><style>{STYLE}</style></head><body><main>\n"
        + "\n".join(part for part in body if part)
        + "\n</main></body></html>\n"
    )


def _text(value: object) -> str:
    return escape(str(value))


def _cards(run: Run) -> str:
    cards = []
    for name in _CARDS:
        share = run.content["figures"][name]
        if share is None:
            continue
        interval = run.content["intervals"].get(name)
        between = f"<small>{100 * interval[0]:.1f} to {100 * interval[1]:.1f}</small>" if interval else ""
        cards.append(f"<div class='card'><b>{percent(share)}</b>{between}<span>{NAMES[name]}</span></div>")
    return f"<section class='cards'>{''.join(cards)}</section>"


def _mistakes(counts: Counts, near_misses: int) -> str:
    sizes = (("omission", counts.omissions), ("wrong", counts.wrong), ("invention", counts.inventions))
    total = sum(size for _, size in sizes)
    if not total:
        return "<p>No mistakes.</p>"
    names = {"omission": "omissions", "wrong": "wrong values", "invention": "inventions"}
    strip = "".join(f"<i class='{kind}' style='flex:{size}'></i>" for kind, size in sizes if size)
    words = ", ".join(f"<span class='tag {kind}'>{size:,} {names[kind]}</span>" for kind, size in sizes)
    taken = f" {near_misses:,} wrong values are planted near misses." if near_misses else ""
    return f"<section><h2>{total:,} mistakes</h2><div class='strip'>{strip}</div><p>{words}.{taken}</p></section>"


def _plots(run: Run) -> str:
    parts = []
    kinds = [(row["kind"] or "(none)", [counts_of(row).accuracy]) for row in run.content["kinds"]]
    if len(kinds) > 1:
        parts.append(f"<section><h2>Fields right, by kind</h2>{bars(kinds, title='Fields right, by kind')}</section>")
    several = len(kinds) > 1
    worst = worst_fields(run)
    fields = [(field_name(row, several), [counts_of(row).accuracy]) for row in worst[:PLOTTED_FIELDS]]
    if fields:
        note = f" <small>({len(fields)} with the most mistakes of {len(run.content['fields'])})</small>"
        parts.append(f"<section><h2>Fields right, by field{note}</h2>{bars(fields, title='Fields right')}</section>")
    pair = []
    if run.content["confidence"]:
        error = calibration_error(run.content["confidence"])
        pair.append(
            f"<section><h2>Is the confidence true?</h2>{reliability(run.content['confidence'], title='Reliability')}"
            f"<p>On the line, values said to be right with 80 % are right 80 times in 100. "
            f"Mean distance: {percent(error)}.</p></section>"
        )
    points = []
    for document in run.documents:
        accuracy = counts_of(document).accuracy
        if document["pages"] and accuracy is not None:
            points.append((document["pages"], accuracy, document["id"]))
    if points:
        plot = pages_against_accuracy(points, title="Pages against accuracy")
        pair.append(f"<section><h2>Longer documents</h2>{plot}<p>One dot a document.</p></section>")
    return "".join(parts) + (f"<div class='pair'>{''.join(pair)}</div>" if pair else "")


def _group_table(title: str, name: str, rows: Sequence[tuple[str, Counts]]) -> str:
    if not rows:
        return ""
    documents = any(counts.documents for _, counts in rows)
    numbers = ["fields", "right", "strictly", "omitted", "wrong", "invented"]
    head = [name, *(["documents", "whole"] if documents else []), *numbers]
    lines = []
    for label, counts in rows:
        cells = [f"{counts.documents:,}", percent(counts.whole_accuracy)] if documents else []
        cells += [f"{counts.fields:,}", percent(counts.accuracy), percent(counts.strict_accuracy)]
        cells += [f"{number:,}" for number in (counts.omissions, counts.wrong, counts.inventions)]
        lines.append(f"<tr><th>{_text(label)}</th>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>")
    heads = "".join(f"<th>{_text(one)}</th>" for one in head)
    return (
        f"<details{' open' if len(rows) <= 12 else ''}><summary><h2>{title}</h2></summary><div class='wide'>"
        f"<table class='numbers'><thead><tr>{heads}</tr></thead><tbody>{''.join(lines)}</tbody></table></div></details>"
    )


def _failures(run: Run) -> str:
    failures = run.failures
    if not failures:
        return ""
    lines = "".join(f"<li><b>{_text(one['id'])}</b>: {_text(one['error'])}</li>" for one in failures)
    return f"<section><h2>{len(failures):,} documents failed</h2><p>Each counts as zero.</p><ul>{lines}</ul></section>"


def _wrong_fields(run: Run, examples: Sequence[Example]) -> str:
    by_id = {example.id: example for example in examples}
    left = MAX_PICTURES
    blocks = []
    for document in run.documents:
        if not document["wrong"]:
            continue
        block, used = _document_block(document, by_id.get(document["id"]), left)
        left -= used
        blocks.append(block)
    if not blocks:
        return ""
    note = f"<p>After {MAX_PICTURES:,} values, pictures are left out.</p>" if left <= 0 else ""
    return f"<section><h2>Every wrong field</h2>{note}</section>{''.join(blocks)}"


def _document_block(document: dict[str, Any], example: Example | None, pictures_left: int) -> tuple[str, int]:
    """The wrong fields of one document; and how many pictures of values it shows."""
    pictures = PagePictures.open(example.document) if example is not None and pictures_left > 0 else None
    thumbnails: list[str] = []
    crops: list[str | None] = [None] * len(document["wrong"])
    used = 0
    if pictures is not None and example is not None:
        try:
            in_gold = gold_places(pictures.document, example.gold, example.schema)
            for index, wrong in enumerate(document["wrong"]):
                place = in_gold.get(wrong["pointer"]) or _answered_place(wrong)
                if place is not None and used < pictures_left:
                    crops[index] = pictures.crop(place.page, place.box)
                    used += crops[index] is not None
            if None in crops:
                thumbnails = list(pictures.thumbnails())
        finally:
            pictures.close()
    rows = [_wrong_row(wrong, crop) for wrong, crop in zip(document["wrong"], crops, strict=True)]
    counts = counts_of(document)
    number = document["pages"]
    pages = f", {number} page{'s' * (number > 1)}" if number else ""
    shown = "".join(f'<img alt="page" src="{uri}">' for uri in thumbnails)
    return (
        f"<details class='document'><summary><b>{_text(document['id'])}</b> {percent(counts.accuracy)} right, "
        f"{len(rows):,} wrong{pages}</summary>"
        + (f"<div class='thumbnails'>{shown}</div>" if shown else "")
        + "<div class='wide'><table class='wrong'><thead><tr><th>field</th><th>on the page</th><th>gold</th>"
        f"<th>answer</th></tr></thead><tbody>{''.join(rows)}</tbody></table></div></details>"
    ), used


def _answered_place(wrong: dict[str, Any]) -> Place | None:
    return Place(wrong["page"], tuple(wrong["box"])) if "box" in wrong else None


def _wrong_row(wrong: dict[str, Any], crop: str | None) -> str:
    tags = [f"<span class='tag {wrong['verdict']}'>{wrong['verdict']}</span>"]
    tags += [f"<span class='tag'>{_text(label)}</span>" for label in wrong.get("labels", ())]
    tags += ["<span class='tag'>near miss</span>"] * bool(wrong.get("near_miss"))
    confidence = f"<small>confidence {wrong['confidence']:.2f}</small>" if "confidence" in wrong else ""
    picture = f'<img alt="" src="{crop}">' if crop is not None else "<small>not located</small>"
    gold = "<small>no such field</small>" if wrong.get("surplus") else _value(wrong["gold"])
    return (
        f"<tr><th>{_text(wrong['pointer'] or '/')}<br>{' '.join(tags)}</th><td>{picture}</td>"
        f"<td>{gold}</td><td>{_value(wrong['answer'])} {confidence}</td></tr>"
    )


def _value(value: Any) -> str:
    if value is None:
        return "<small>null</small>"
    words = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return f"<code>{_text(words if len(words) <= 500 else words[:500] + '…')}</code>"


def _differences(comparison: Comparison) -> str:
    ours, theirs = figures_over_documents(comparison.first), figures_over_documents(comparison.second)
    rows = []
    for name, interval in comparison.differences.items():
        if interval is None:
            continue
        clear = " class='better'" if interval.low > 0 else " class='worse'" if interval.high < 0 else ""
        rows.append(
            f"<tr><th>{NAMES[name]}</th><td>{percent(ours[name])}</td><td>{percent(theirs[name])}</td>"
            f"<td{clear}>{100 * interval.value:+.1f}</td>"
            f"<td>{100 * interval.low:+.1f} to {100 * interval.high:+.1f}</td></tr>"
        )
    return (
        "<section><div class='wide'><table class='numbers'><thead><tr><th></th><th>A</th><th>B</th><th>B - A</th>"
        f"<th>95 % interval</th></tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
        "<p>The interval is a paired bootstrap over documents; a coloured difference does not reach zero.</p></section>"
    )


def _side_by_side(comparison: Comparison, part: str, name: str) -> list[tuple[str, list[float | None]]]:
    """The accuracies of a part of both runs, by name, in the order of the first."""
    tables: list[dict[str, float | None]] = []
    several = len(comparison.first.content["kinds"]) > 1
    for run in (comparison.first, comparison.second):
        rows = run.content[part]
        tables.append({row[name] if name else field_name(row, several): counts_of(row).accuracy for row in rows})
    return [(one or "(none)", [tables[0].get(one), tables[1].get(one)]) for one in {**tables[0], **tables[1]}]


def _largest_changes(rows: list[tuple[str, list[float | None]]]) -> list[tuple[str, list[float | None]]]:
    def change(row: tuple[str, list[float | None]]) -> float:
        first, second = row[1]
        return abs((second or 0) - (first or 0))

    return sorted(rows, key=change, reverse=True)[:PLOTTED_FIELDS]


def _changed_documents(comparison: Comparison) -> str:
    pairs = comparison.changed_documents()
    if not pairs:
        return "<p>No document has more fields right in one run than in the other.</p>"
    rows = []
    for one, other in pairs:
        shares = [counts_of(document).accuracy for document in (one, other)]
        cells = "".join(f"<td>{percent(share)}</td>" for share in shares)
        rows.append(f"<tr><th>{_text(one['id'])}</th>{cells}</tr>")
    return (
        f"<details><summary><h2>{len(pairs):,} documents differ</h2></summary><div class='wide'>"
        "<table class='numbers'><thead><tr><th>document</th><th>A</th><th>B</th></tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table></div></details>"
    )
