"""Cumulative laboratory reports: many visits of one patient, flagged results and corrections among them."""

from __future__ import annotations

import datetime
from dataclasses import dataclass

from forklift.evaluate.documents import names
from forklift.evaluate.documents.brief import Brief, MadeDocument
from forklift.evaluate.documents.flow import Flow
from forklift.evaluate.documents.letterhead import make_letterhead
from forklift.evaluate.documents.notation import any_day, days_after, make_notation
from forklift.evaluate.documents.prose import Prose, remark
from forklift.evaluate.documents.style import make_style
from forklift.evaluate.documents.tables import Row, Table, TableColumn
from forklift.evaluate.documents.truth import Column, Label, Truth

# Name, unit, decimals, lower and upper end of the reference interval.
_TESTS: dict[str, tuple[tuple[str, str, int, float, float], ...]] = {
    "Haematology": (
        ("Haemoglobin", "g/L", 0, 120, 160),
        ("Haematocrit", "L/L", 2, 0.36, 0.48),
        ("Leucocytes", "10^9/L", 1, 4.0, 10.0),
        ("Platelets", "10^9/L", 0, 150, 400),
        ("Erythrocytes", "10^12/L", 2, 4.1, 5.5),
        ("MCV", "fL", 0, 80, 98),
        ("Neutrophils", "10^9/L", 1, 1.8, 7.5),
        ("Lymphocytes", "10^9/L", 1, 1.0, 4.0),
    ),
    "Clinical chemistry": (
        ("Sodium", "mmol/L", 0, 135, 145),
        ("Potassium", "mmol/L", 1, 3.5, 5.1),
        ("Calcium", "mmol/L", 2, 2.15, 2.55),
        ("Creatinine", "umol/L", 0, 50, 100),
        ("Urea", "mmol/L", 1, 2.8, 8.1),
        ("Glucose", "mmol/L", 1, 3.9, 6.1),
        ("ALT", "U/L", 0, 8, 45),
        ("AST", "U/L", 0, 10, 40),
        ("Alkaline phosphatase", "U/L", 0, 40, 120),
        ("Albumin", "g/L", 0, 35, 52),
        ("C-reactive protein", "mg/L", 1, 0.1, 5.0),
    ),
    "Coagulation": (("INR", "ratio", 2, 0.9, 1.15), ("aPTT", "s", 0, 25, 37), ("Fibrinogen", "g/L", 1, 1.8, 3.5)),
    "Thyroid": (("TSH", "mIU/L", 2, 0.4, 4.0), ("Free T4", "pmol/L", 1, 11.0, 22.0)),
    "Iron status": (("Ferritin", "ug/L", 0, 20, 250), ("Transferrin", "g/L", 1, 2.0, 3.6)),
}
_LATEST = ("Haemoglobin", "Creatinine", "Potassium")
_UNITS = ("Ward 4 North", "Outpatient clinic B", "Day clinic 2", "Ward 7 East", "Renal unit")


@dataclass(frozen=True)
class _Result:
    test: str
    value: float
    decimals: int
    unit: str
    low: float
    high: float
    flag: str  # "", "H", "L", "HH", "LL"


@dataclass(frozen=True)
class _Visit:
    specimen: str
    collected: datetime.date
    sections: tuple[tuple[str, tuple[_Result, ...]], ...]

    @property
    def results(self) -> list[_Result]:
        return [result for _, results in self.sections for result in results]


@dataclass(frozen=True)
class _Correction:
    specimen: str
    test: str
    reported: float
    corrected: float
    decimals: int


def make_laboratory_report(brief: Brief) -> MadeDocument:
    report = _Report(brief)
    report.draw()
    return MadeDocument(report.flow, report.truth(), f"{report.title} {report.number}")


class _Report:
    def __init__(self, brief: Brief) -> None:
        self.brief = brief
        self.random = random = brief.random
        self.notation = make_notation(random, negatives=("minus",))
        self.laboratory = (
            f"{names.word(random)} {random.choice(('Laboratories', 'Diagnostics', 'Clinical Laboratory'))}"
        )
        self.reference_laboratory = f"{names.word(random)} Reference Laboratory"
        self.patient = f"Patient {names.digits(random, 4)}"
        self.patient_number, self.case_number = names.digits(random, 8), names.code(random, "C")
        self.birth_year = random.randint(1935, 2004)
        self.sex = random.choice(("female", "male"))
        self.unit = random.choice(_UNITS)
        self.copy_unit = random.choice([unit for unit in _UNITS if unit != self.unit])
        self.number = names.code(random, random.choice(("LR", "LAB")))
        self.previous_number = names.like(random, self.number)
        self.title = random.choice(("Cumulative laboratory report", "Laboratory report", "Report of findings"))
        style = make_style(random)
        self.flow = Flow(
            make_letterhead(
                random, style, self.laboratory, names.address(random), self.title, self.number, self.notation.remark
            )
        )
        self.visits = self._make_visits((style.size - 1.5) * 1.25 + 5.2)
        self.last = self.visits[-1].collected
        self.issued = days_after(self.last, random.randint(1, 5))
        self.validated_by = f"Validator {names.letters(random, 3)}"
        self.allergy = None if brief.hard(0.3, 0.7) else random.choice(("Penicillin", "Latex", "Iodine"))
        self.fasting = None if brief.hard(0.3, 0.7) else random.choice(("fasting", "not fasting"))
        self.corrections = self._make_corrections()
        self.prints_counts = not brief.hard(0.2, 0.9)
        self.comment = remark(random, random.choice((5, 6, 7)))
        self.comment_crosses = False

    def _make_visits(self, row_height: float) -> list[_Visit]:
        """As many as fill the pages; critical results are planted in a few of them."""
        random, brief = self.random, self.brief
        lines = (brief.pages - 2.0) * 610.0 / row_height
        sizes: list[list[str]] = []
        while lines > 0 or len(sizes) < 5:
            sections = [name for name in _TESTS if name == "Haematology" or random.random() < 0.62]
            sizes.append(sections)
            lines -= sum(len(_TESTS[name]) + 1 for name in sections) + 5.5
        critical = set(random.sample(range(len(sizes)), min(len(sizes), brief.many(3, 8))))
        day = any_day(random, 2021, 2024)
        visits = []
        specimens = names.distinct(random, len(sizes), lambda r: f"S{names.digits(r, 7)}")
        for index, sections in enumerate(sizes):
            day = days_after(day, random.randint(3, 21))
            chosen = random.choice(sections)
            marked = random.choice(_TESTS[chosen])[0] if index in critical else ""
            drawn = tuple(
                (name, tuple(self._make_result(test, test[0] == marked) for test in _TESTS[name])) for name in sections
            )
            visits.append(_Visit(specimens[index], day, drawn))
        return visits

    def _make_result(self, test: tuple[str, str, int, float, float], critical: bool) -> _Result:
        name, unit, decimals, low, high = test
        width = high - low
        random = self.random
        if critical:
            value = high + width * random.uniform(1.6, 2.5) if random.random() < 0.6 or low < width else low * 0.55
        else:
            value = random.uniform(low - min(width * 0.12, low * 0.2), high + width * 0.25)
        value = round(value, decimals)
        flag = "H" if value > high else "L" if value < low else ""
        return _Result(name, value, decimals, unit, low, high, flag * 2 if critical else flag)

    def _make_corrections(self) -> list[_Correction]:
        chosen = self.random.sample(self.visits[:-1], min(len(self.visits) - 1, self.brief.many(1, 4)))
        corrections = []
        for visit in sorted(chosen, key=lambda visit: visit.collected):
            # Neither a critical result nor one that is asked for as the latest: which value counts would be unclear.
            fit = [r for r in visit.results if len(r.flag) < 2 and r.test not in _LATEST]
            result = self.random.choice(fit)
            step = 10.0**-result.decimals
            new = round(result.value + step * self.random.randint(2, 9), result.decimals)
            corrections.append(_Correction(visit.specimen, result.test, result.value, new, result.decimals))
        return corrections

    @property
    def critical(self) -> list[tuple[_Visit, _Result]]:
        return [(visit, result) for visit in self.visits for result in visit.results if len(result.flag) == 2]

    def draw(self) -> None:
        flow, notation, random = self.flow, self.notation, self.random
        self._front()
        together = random.random() < 0.5  # headings of specimens as panels, or as lines
        for visit in self.visits:
            flow.heading(f"Specimen {visit.specimen}", level=2, keep=90)
            if together:
                flow.pairs(
                    [("Collected", notation.date(visit.collected)), ("Material", "Blood, serum")],
                    columns=2,
                    label_width=60,
                )
            else:
                flow.paragraph(f"Collected {notation.date(visit.collected)}; blood, serum", italic=True, after=2)
            self._results(visit)
        self._closing()
        flow.finish()

    def _front(self) -> None:
        flow, notation, random = self.flow, self.notation, self.random
        top = flow.y
        entries = [
            ("Patient", self.patient),
            ("Patient no.", self.patient_number),
            ("Year of birth", str(self.birth_year)),
            ("Sex", self.sex),
            ("Case", self.case_number),
        ]
        others = [
            ("Report no.", self.number),
            ("Replaces report", self.previous_number),
            ("Date of report", notation.date(self.issued)),
            ("Ordered by", self.unit),
            ("Copy to", self.copy_unit),
        ]
        width = flow.width / 2 - 8
        look = random.randrange(3)
        flow.panel(entries, flow.left, top, width, look=look)
        flow.y = flow.panel(others, flow.left + width + 16, top, width, look=look) + 8
        flow.title(
            self.title, below=f"Specimens of {notation.date(self.visits[0].collected)} to {notation.date(self.last)}"
        )
        if self.fasting:
            flow.paragraph(f"State at the last collection: {self.fasting}.")
        if self.allergy:
            flow.note(f"Known allergy: {self.allergy}")
        flow.paragraph(
            f"Tests marked with an asterisk are sent to {self.reference_laboratory}. HH and LL mark critical results."
        )
        if self.prints_counts:
            flow.paragraph(
                f"This report covers {len(self.visits)} specimens; {len(self.critical)} results are critical."
            )

    def _results(self, visit: _Visit) -> None:
        notation = self.notation
        columns = (
            *(TableColumn("Test", wraps=True), TableColumn("Result", "right"), TableColumn("Flag", "centre")),
            *(TableColumn("Unit"), TableColumn("Reference interval", "right")),
        )
        rows = []
        for section, results in visit.sections:
            rows.append(Row((section,), "section"))
            for result in results:
                low, high = (notation.number(limit, result.decimals) for limit in (result.low, result.high))
                value = notation.number(result.value, result.decimals)
                rows.append(Row((result.test, value, result.flag, result.unit, f"{low} - {high}")))
        Table(self.flow, columns, small=True).write(rows)

    def _closing(self) -> None:
        flow, notation, random = self.flow, self.notation, self.random
        prose = Prose(random, "laboratory")
        if self.corrections:
            flow.heading("Corrected results", keep=70)
            flow.paragraph("The following results were reported wrongly above and are corrected here.")
            columns = (
                *(TableColumn("Specimen"), TableColumn("Test", wraps=True)),
                *(TableColumn("Reported", "right"), TableColumn("Corrected", "right")),
            )
            Table(flow, columns).write(
                [
                    Row(
                        (
                            c.specimen,
                            c.test,
                            notation.number(c.reported, c.decimals),
                            notation.number(c.corrected, c.decimals),
                        )
                    )
                    for c in self.corrections
                ]
            )
        flow.heading("Remarks of the laboratory")
        crossing = self.brief.hard(0.3, 0.9)
        span = flow.passage("Comment", self.comment, crossing=crossing, filler=lambda: prose.paragraph(2, 4))
        self.comment_crosses = span.crosses
        flow.paragraph(f"Validated electronically: {self.validated_by}, {notation.date(self.issued)}", italic=True)
        flow.in_columns([prose.paragraph(2, 4) for _ in range(random.randint(4, 7))])

    def truth(self) -> Truth:
        truth = Truth("A laboratory's cumulative report on one patient")
        truth.put(
            "laboratory",
            "text",
            self.laboratory,
            "Name of the laboratory that reports",
            near=(self.reference_laboratory,),
        )
        truth.put("report_number", "text", self.number, "Number of this report", near=(self.previous_number,))
        truth.put("report_date", "date", self.issued, "Date of the report", near=(self.last,))
        truth.put("patient", "text", self.patient, "The patient's pseudonym as printed")
        truth.put("patient_number", "text", self.patient_number, "Number of the patient", near=(self.case_number,))
        truth.put("year_of_birth", "integer", self.birth_year, "Year of birth")
        truth.put("sex", "choice", self.sex, "Sex as printed", choices=("female", "male"))
        truth.put("ordering_unit", "text", self.unit, "Unit that ordered the tests", near=(self.copy_unit,))
        truth.put("validated_by", "text", self.validated_by, "Who validated the report, as printed")
        truth.put("known_allergy", "text", self.allergy, "Known allergy of the patient")
        truth.put(
            "fasting_state", "choice", self.fasting, "State at the last collection", choices=("fasting", "not fasting")
        )
        truth.put("medication", "text", None, "Medication of the patient")
        truth.put("first_collection_date", "date", self.visits[0].collected, "Date of the first specimen")
        truth.put("last_collection_date", "date", self.last, "Date of the last specimen", near=(self.issued,))
        counted: tuple[Label, ...] = ("aggregated",) if self.prints_counts else ("aggregated", "derived")
        truth.put(
            "specimen_count",
            "integer",
            len(self.visits),
            "Number of specimens in the report",
            labels=counted,
        )
        truth.put(
            "critical_count",
            "integer",
            len(self.critical),
            "Number of results with the flag HH or LL",
            labels=counted,
        )
        truth.records(
            "critical_results",
            "Every result with the flag HH or LL, in the order of the report",
            (
                Column("specimen", "text", "Number of the specimen"),
                Column("collected", "date", "Date of collection"),
                Column("test", "text", "Name of the test"),
                Column("value", "number", "Result"),
                Column("flag", "choice", "The flag", ("HH", "LL")),
            ),
            [(visit.specimen, visit.collected, r.test, r.value, r.flag) for visit, r in self.critical],
            labels=("exhaustive_list", "aggregated"),
        )
        for test in _LATEST:
            found = [(visit, result) for visit in self.visits for result in visit.results if result.test == test]
            part = truth.part(f"latest_{test.lower()}", f"The latest result of {test}; null if it was never measured")
            labels: tuple[Label, ...] = ("aggregated",) if found else ()
            value = found[-1][1].value if found else None
            earlier = [result.value for _, result in found[-3:-1]]
            part.put("value", "number", value, "Result", labels=labels, near=earlier)
            day = found[-1][0].collected if found else None
            part.put("collected", "date", day, "Date of collection", labels=labels)
        truth.records(
            "corrections",
            "Every result that is corrected at the end of the report",
            (
                Column("specimen", "text", "Number of the specimen"),
                Column("test", "text", "Name of the test"),
                Column("reported_value", "number", "Value as first reported"),
                Column("corrected_value", "number", "Value after the correction"),
            ),
            [(c.specimen, c.test, c.reported, c.corrected) for c in self.corrections],
            labels=("exhaustive_list",),
        )
        truth.put(
            "comment",
            "text",
            self.comment,
            "The laboratory's comment in full, without its heading",
            labels=("spans_pages",) if self.comment_crosses else (),
        )
        return truth
