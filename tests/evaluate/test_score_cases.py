"""Every rule of docs/evaluate.md, as cases worked by hand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from forklift.evaluate.expected import ExpectedFields
from forklift.evaluate.score import FAILURE, Verdict, labels_of, score

INVOICE = {
    "type": "object",
    "properties": {
        "number": {"type": "string"},
        "total": {"type": ["number", "null"]},
        "seller": {
            "type": "object",
            "properties": {"name": {"type": "string"}, "city": {"type": "string"}},
        },
        "lines": {
            "type": "array",
            "items": {"type": "object", "properties": {"what": {"type": "string"}, "price": {"type": "number"}}},
        },
    },
}
EITHER = {
    "type": "object",
    "properties": {"x": {"anyOf": [{"type": "object", "properties": {"a": {}}}, {"type": "string"}]}},
}
ENDLESS = {"type": "object", "properties": {"name": {"type": "string"}, "next": {"$ref": "#"}}}
A, B, C = {"k": 1, "v": "a"}, {"k": 2, "v": "b"}, {"k": 3, "v": "c"}


@dataclass(frozen=True)
class Case:
    """counts: fields, correct, strictly correct, omissions, wrong values, inventions, of these surplus."""

    name: str
    gold: Any
    answer: Any
    counts: tuple[int, int, int, int, int, int, int]
    schema: Any = None
    ordered: bool = False


CASES = [
    # One value against another
    Case("equal text", {"a": "x"}, {"a": "x"}, (1, 1, 1, 0, 0, 0, 0)),
    Case("other text", {"a": "x"}, {"a": "y"}, (1, 0, 0, 0, 1, 0, 0)),
    Case("text is not given", {"a": "x"}, {"a": None}, (1, 0, 0, 1, 0, 0, 0)),
    Case("a missing key is a null", {"a": "x"}, {}, (1, 0, 0, 1, 0, 0, 0)),
    Case("a null that stays null", {"a": None}, {"a": None}, (1, 1, 1, 0, 0, 0, 0)),
    Case("a null that is left out", {"a": None}, {}, (1, 1, 1, 0, 0, 0, 0)),
    Case("a null that is filled", {"a": None}, {"a": "x"}, (1, 0, 0, 0, 0, 1, 0)),
    Case("zero is a value", {"a": 0}, {"a": None}, (1, 0, 0, 1, 0, 0, 0)),
    Case("false is a value", {"a": False}, {}, (1, 0, 0, 1, 0, 0, 0)),
    Case("one and 1.0 are one number", {"a": 1}, {"a": 1.0}, (1, 1, 1, 0, 0, 0, 0)),
    Case("true is not one", {"a": True}, {"a": 1}, (1, 0, 0, 0, 1, 0, 0)),
    Case("a boolean in words", {"a": True}, {"a": "True"}, (1, 1, 0, 0, 0, 0, 0)),
    Case("a key nobody asked for", {"a": 1}, {"a": 1, "b": 2}, (1, 1, 1, 0, 0, 1, 1)),
    Case("a null nobody asked for", {"a": 1}, {"a": 1, "b": None}, (1, 1, 1, 0, 0, 0, 0)),
    Case("a scalar alone", "x", "x", (1, 1, 1, 0, 0, 0, 0)),
    Case("an empty text is a null", {"a": None}, {"a": " "}, (1, 1, 0, 0, 0, 0, 0)),
    Case("an empty text for a value", {"a": "x"}, {"a": ""}, (1, 0, 0, 1, 0, 0, 0)),
    Case("an empty text in gold", {"a": ""}, {"a": None}, (1, 1, 0, 0, 0, 0, 0)),
    # Tolerance
    Case("case", {"a": "ACME Ltd"}, {"a": "Acme ltd"}, (1, 1, 0, 0, 0, 0, 0)),
    Case("white space", {"a": "Main Street 1"}, {"a": " Main\n Street  1"}, (1, 1, 0, 0, 0, 0, 0)),
    Case("a ligature", {"a": "office"}, {"a": "oﬃce"}, (1, 1, 0, 0, 0, 0, 0)),
    Case("composed and decomposed", {"a": "Müller"}, {"a": "Mu\u0308ller"}, (1, 1, 0, 0, 0, 0, 0)),
    Case("no accent is another name", {"a": "Müller"}, {"a": "Muller"}, (1, 0, 0, 0, 1, 0, 0)),
    Case("dashes and quotation marks", {"a": "“A–B’s”"}, {"a": '"A-B\'s"'}, (1, 1, 0, 0, 0, 0, 0)),
    Case("a soft hyphen", {"a": "invoice"}, {"a": "in\u00advoice"}, (1, 1, 0, 0, 0, 0, 0)),
    Case("a number as text", {"a": 1234.5}, {"a": "1,234.50"}, (1, 1, 0, 0, 0, 0, 0)),
    Case("a currency sign", {"a": 1234.5}, {"a": "€ 1.234,50"}, (1, 1, 0, 0, 0, 0, 0)),
    Case("negative in brackets", {"a": -5}, {"a": "($5.00)"}, (1, 1, 0, 0, 0, 0, 0)),
    Case("a currency code stays", {"a": 5}, {"a": "EUR 5"}, (1, 0, 0, 0, 1, 0, 0)),
    Case("a per cent sign stays", {"a": 5}, {"a": "5%"}, (1, 0, 0, 0, 1, 0, 0)),
    Case("noise of binary fractions", {"a": 0.3}, {"a": 0.1 + 0.2}, (1, 1, 0, 0, 0, 0, 0)),
    Case("rounded is another number", {"a": 33.333}, {"a": 33.33}, (1, 0, 0, 0, 1, 0, 0)),
    Case("a cent in a thousand million", {"a": 1234567890.12}, {"a": 1234567890.13}, (1, 0, 0, 0, 1, 0, 0)),
    Case("long identifiers", {"a": "1234567890123456"}, {"a": "1234567890123457"}, (1, 0, 0, 0, 1, 0, 0)),
    Case("leading zeros matter", {"a": "007"}, {"a": "7"}, (1, 0, 0, 0, 1, 0, 0)),
    Case("a date in words", {"a": "2026-03-05"}, {"a": "5 March 2026"}, (1, 1, 0, 0, 0, 0, 0)),
    Case("a date, American", {"a": "2026-03-05"}, {"a": "Mar. 5, 2026"}, (1, 1, 0, 0, 0, 0, 0)),
    Case("a date that tells itself", {"a": "2026-04-13"}, {"a": "13/04/2026"}, (1, 1, 0, 0, 0, 0, 0)),
    Case("a date of two meanings", {"a": "2026-04-03"}, {"a": "03/04/2026"}, (1, 0, 0, 0, 1, 0, 0)),
    Case("another day", {"a": "2026-03-05"}, {"a": "6 March 2026"}, (1, 0, 0, 0, 1, 0, 0)),
    # Objects
    Case("fields of an object", {"o": {"a": 1, "b": 2}}, {"o": {"a": 1, "b": 3}}, (2, 1, 1, 0, 1, 0, 0)),
    Case("an object left out", {"o": {"a": 1, "b": None}}, {}, (2, 1, 1, 1, 0, 0, 0)),
    Case("a scalar for an object", {"o": {"a": 1, "b": 2}}, {"o": "x"}, (2, 0, 0, 2, 0, 1, 1)),
    Case("an object for a scalar", {"a": "x"}, {"a": {"b": 1, "c": 2}}, (1, 0, 0, 0, 1, 0, 0)),
    Case("an object for a null", {"a": None}, {"a": {"b": 1, "c": 2}}, (1, 0, 0, 0, 0, 1, 0)),
    Case("a blank object for a null", {"a": None}, {"a": {"b": None}}, (1, 1, 1, 0, 0, 0, 0)),
    Case("keys with strange names", {"a/b": 1, "~": 2}, {"a/b": 1, "~": 2}, (2, 2, 2, 0, 0, 0, 0)),
    # Lists
    Case("the same list", [A, B], [A, B], (4, 4, 4, 0, 0, 0, 0)),
    Case("another order", [A, B, C], [C, A, B], (6, 6, 6, 0, 0, 0, 0)),
    Case("scalars in another order", [1, 2, 2], [2, 1, 2], (3, 3, 3, 0, 0, 0, 0)),
    Case("an element missing", [A, B, C], [A, C], (6, 4, 4, 2, 0, 0, 0)),
    Case("a missing element takes its nulls along", [A, {"k": 2, "v": None}], [A], (4, 2, 2, 2, 0, 0, 0)),
    Case("an element too many", [A], [A, B], (2, 2, 2, 0, 0, 2, 2)),
    Case("an element twice", [A], [A, A], (2, 2, 2, 0, 0, 2, 2)),
    Case("a blank element too many counts one", [A], [A, {}], (2, 2, 2, 0, 0, 1, 1)),
    Case("blank elements in an empty list", {"l": [[]]}, {"l": [[None, None]]}, (0, 0, 0, 0, 0, 2, 2)),
    Case("a list nobody asked for", {"a": 1}, {"a": 1, "l": [None, 2]}, (1, 1, 1, 0, 0, 2, 2)),
    Case("one value of an element wrong", [A, B], [B, {"k": 1, "v": "z"}], (4, 3, 3, 0, 1, 0, 0)),
    Case("the best pairing, not the first", [A, B], [{"k": 2, "v": "a"}, {"k": 2, "v": "b"}], (4, 3, 3, 0, 1, 0, 0)),
    Case("values decide before nulls", [{"k": 1, "v": None}, {"k": 2, "v": 5}], [{"k": 2}, {"k": 1, "v": 9}],
         (4, 2, 2, 1, 0, 1, 0)),
    Case("nulls decide where values do not", [{"k": None, "v": 1}, {"k": 7, "v": 2}], [{"k": 8, "v": 9},
         {"k": None, "v": 9}],
         (4, 1, 1, 0, 3, 0, 0)),
    Case("exactness decides last but one", ["a", "A"], ["A", "a"], (2, 2, 2, 0, 0, 0, 0)),
    Case("the surplus is as small as can be", [{"k": 1}], [{"k": 1, "x": 5}, {"k": 1}], (1, 1, 1, 0, 0, 2, 2)),
    Case("an empty list has no fields", {"l": [], "a": 1}, {"l": None, "a": 1}, (1, 1, 1, 0, 0, 0, 0)),
    Case("a list that should be empty", {"l": []}, {"l": [1, 2]}, (0, 0, 0, 0, 0, 2, 2)),
    Case("a list left out", {"l": [1, None]}, {}, (2, 0, 0, 2, 0, 0, 0)),
    Case("a scalar for a list", {"l": [1]}, {"l": 1}, (1, 0, 0, 1, 0, 1, 1)),
    Case("lists in lists", [{"n": [1, 2]}, {"n": [3]}], [{"n": [3]}, {"n": [2, 1]}], (3, 3, 3, 0, 0, 0, 0)),
    Case("lists in lists, one short", [{"n": [1, 2]}, {"n": [3]}], [{"n": [2]}, {"n": [3]}], (3, 2, 2, 1, 0, 0, 0)),
    Case("objects in elements", [{"o": {"a": 1}}, {"o": {"a": 2}}], [{"o": {"a": 2}}, {"o": {"a": 3}}],
         (2, 1, 1, 0, 1, 0, 0)),
    Case("elements of two kinds", [1, A], [A, 1], (3, 3, 3, 0, 0, 0, 0)),
    Case("ordered: as gold has it", [A, B], [A, B], (4, 4, 4, 0, 0, 0, 0), ordered=True),
    Case("ordered: swapped", [1, 2], [2, 1], (2, 1, 1, 1, 0, 1, 1), ordered=True),
    Case("ordered: one missing moves nothing", [1, 2, 3, 4], [2, 3, 4], (4, 3, 3, 1, 0, 0, 0), ordered=True),
    # The schema completes gold
    Case("fields that gold leaves out", {"number": "7a"}, {"number": "7a"}, (4, 4, 4, 0, 0, 0, 0), INVOICE),
    Case("filled though gold leaves it out", {"number": "7a"}, {"number": "7a", "total": 5},
         (4, 3, 3, 0, 0, 1, 0), INVOICE),
    Case("a null object is nulls", {"number": "7a", "seller": None}, {"number": "7a", "seller": {"name": "X"}},
         (4, 3, 3, 0, 0, 1, 0), INVOICE),
    Case("a null list is empty", {"number": "7a", "lines": None}, {"number": "7a", "lines": []},
         (4, 4, 4, 0, 0, 0, 0), INVOICE),
    Case("elements are completed too", {"number": "7a", "lines": [{"what": "x"}]},
         {"number": "7a", "lines": [{"what": "x", "price": 1}]},
         (6, 5, 5, 0, 0, 1, 0), INVOICE),
    Case("one of several kinds stays one field", {"x": None}, {"x": {"a": 1}}, (1, 0, 0, 0, 0, 1, 0), EITHER),
    Case("a schema inside itself ends", {"name": "x"}, {"name": "x"}, (3, 3, 3, 0, 0, 0, 0), ENDLESS),
    # No answer
    Case("a failure is zero, nulls too", {"a": 1, "b": None, "l": [A]}, FAILURE, (4, 0, 0, 4, 0, 0, 0)),
    Case("an empty answer is not a failure", {"a": 1, "b": None}, {}, (2, 1, 1, 1, 0, 0, 0)),
]  # fmt: skip


def test_there_are_enough_cases() -> None:
    assert len({case.name for case in CASES}) == len(CASES) >= 60


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_case_worked_by_hand(case: Case) -> None:
    schema = ExpectedFields(case.schema) if case.schema is not None else None
    counts = score(case.gold, case.answer, schema, ordered=case.ordered).counts
    found = (
        *(counts.fields, counts.correct, counts.strict),
        *(counts.omissions, counts.wrong, counts.inventions, counts.surplus),
    )
    assert found == case.counts
    assert counts.fields + counts.surplus == counts.correct + counts.omissions + counts.wrong + counts.inventions


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_verdicts_of_a_case_add_up_to_its_counts(case: Case) -> None:
    schema = ExpectedFields(case.schema) if case.schema is not None else None
    scored = score(case.gold, case.answer, schema, ordered=case.ordered).fields
    verdicts = [one.verdict for one in scored]
    expected = (case.counts[1], *case.counts[3:6])
    assert tuple(map(verdicts.count, (Verdict.CORRECT, Verdict.OMISSION, Verdict.WRONG, Verdict.INVENTION))) == expected
    assert sum(one.strict for one in scored) == case.counts[2]
    assert sum(one.surplus for one in scored) == case.counts[6]


def test_figures_of_one_document() -> None:
    gold = {"a": 1, "b": "x", "c": None, "d": None, "l": [1, 2]}
    answer = {"a": 1, "b": "X", "c": 5, "d": None, "l": [1], "e": 7}
    counts = score(gold, answer).counts
    # Fields: a, b, c, d and two elements. Right: a, b (not strictly), d, the 1. Wrong: c, the 2. Surplus: e.
    assert counts.accuracy == 4 / 7
    assert counts.strict_accuracy == 3 / 7
    assert counts.precision == 3 / 5  # of a, b, c, 1 and e
    assert counts.recall == 3 / 4  # of a, b, 1 and 2
    assert counts.f1 == 6 / 9
    assert counts.null_accuracy == 1 / 2
    assert (counts.whole, counts.strict_whole) == (0, 0)


@pytest.mark.parametrize(
    ("gold", "answer", "whole", "strict"),
    [
        ({"a": "x"}, {"a": "x"}, 1, 1),
        ({"a": "x"}, {"a": "X"}, 1, 0),
        ({"a": "x"}, {"a": "x", "b": 1}, 0, 0),
        ({"a": "x"}, {"a": "y"}, 0, 0),
        ({"l": []}, {"l": []}, 1, 1),
        ({"l": []}, FAILURE, 0, 0),
    ],
)
def test_a_document_is_whole_when_all_is_right_and_nothing_invented(
    gold: Any, answer: Any, whole: int, strict: int
) -> None:
    counts = score(gold, answer).counts
    assert (counts.whole, counts.strict_whole) == (whole, strict)


def test_a_document_without_anything_to_count_has_no_figures() -> None:
    counts = score({}, {}).counts
    assert (counts.accuracy, counts.precision, counts.recall, counts.f1, counts.null_accuracy) == (None,) * 5


def test_pointers_lead_to_the_field_in_gold_and_in_the_answer() -> None:
    scored = score({"l": [A, B]}, {"l": [C, {"k": 2, "v": "z"}, A], "x": {"y": [4]}}).fields
    wrong = next(one for one in scored if one.verdict is Verdict.WRONG)
    assert (wrong.pattern, wrong.pointer, wrong.answer_pointer) == ("/l/*/v", "/l/1/v", "/l/1/v")
    assert (wrong.gold, wrong.answer) == ("b", "z")
    surplus = [(one.pattern, one.pointer, one.answer_pointer, one.answer) for one in scored if one.surplus]
    assert surplus == [
        ("/l/*/k", "/l/-/k", "/l/0/k", 3),
        ("/l/*/v", "/l/-/v", "/l/0/v", "c"),
        ("/x/y/*", "/x/y/-", "/x/y/0", 4),
    ]
    right = next(one for one in scored if one.pointer == "/l/0/k")
    assert right.answer_pointer == "/l/2/k"


def test_labels_come_from_the_field_and_all_that_is_around_it() -> None:
    labels = {"": ["all"], "/l": ["list"], "/l/1/k": ["own", "list"], "/l/1": ["row"], "/le": ["other"]}
    assert labels_of("/l/1/k", labels) == ["own", "list", "row", "all"]
    assert labels_of("/l/-/k", labels) == ["list", "all"]
    assert labels_of("", labels) == ["all"]
