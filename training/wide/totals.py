"""The sums below a wide document's items: subtotal, discount, shipping, taxes and total."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from training.draft import DoesNotFit
from training.wide import figures
from training.wide.content import Sums, Tax
from training.wide.figures import Value
from training.wide.look import Look
from training.wide.paper import Face, Ink, Mark, Paper
from training.wide.parts import Marks
from training.wide.tables import percent


def sign_mark(look: Look, cents: int, mark: Mark) -> Mark | None:
    """The currency as the amount marked shows it."""
    _, sign = look.signed(cents)
    if sign is None:
        return None
    return Mark(look.currency_value(sign[0]), ((0, mark.pieces[0][1], sign[1]),))


def _tax_label(random: Random, look: Look, tax: Tax, form: str) -> tuple[str, Value | None]:
    """A tax line's label, and the rate that it names, placed in it."""
    name = look.label("tax")
    if form == "plain":
        return name, None
    rate = percent(random, look, tax.rate)
    if form == "before":
        value = rate.within("", f" {name}")
    elif form == "brackets":
        value = rate.within(f"{name} (", ")")
    elif form == "base":
        wording = look.locale.words.labels["tax_on"][0].replace("#", look.money(tax.base).shown)
        value = figures.inside(f"{name} {wording}", rate, "*")
    else:
        value = rate.within(f"{name} ")
    return value.shown, value


@dataclass
class TotalsForm:
    right: bool
    emphasis: str  # "plain", "strong", "shade", "dark", "rule" or "large"
    signs: str  # "all", "total" or "none"
    labels_right: bool
    tax_form: str
    total_label_money: str


def draw_totals_form(random: Random, look: Look) -> TotalsForm:
    money = ""
    if look.money_form == "#" and random.random() < 0.3:
        sign = random.choice((look.currency, look.sign or look.currency))
        money = random.choice((f" {sign}", f" ({sign})", f" in {sign}"))
    return TotalsForm(
        right=random.random() < 0.85,
        emphasis=random.choice(("plain", "strong", "strong", "strong", "shade", "dark", "rule", "large")),
        signs=random.choice(("all", "all", "total")),
        labels_right=random.random() < 0.2,
        tax_form=random.choice(("plain", "rate", "rate", "brackets", "before", "base")),
        total_label_money=money,
    )


def totals(
    random: Random,
    paper: Paper,
    look: Look,
    sums: Sums,
    x0: float,
    x1: float,
    y: float,
    *,
    retail: bool = False,
    form: TotalsForm | None = None,
    only_total: bool = False,
) -> tuple[Marks, float]:
    """Subtotal, discount, shipping, taxes and total between x0 and x1; the marks hold the currency where it shows."""
    form = form or draw_totals_form(random, look)
    tax_form = form.tax_form
    if len(sums.taxes) > 1 and tax_form == "plain":
        tax_form = "rate"
    rows: list[tuple[str, str, int, Value | None]] = []
    complete = random.random() < 0.9
    if not only_total:
        if complete and (not retail or random.random() < 0.5) and not (sums.tax_included and len(sums.taxes) > 1):
            # Tax that the prices hold is taken off for the subtotal.
            net = sums.subtotal - (sums.taxes[0].amount if sums.tax_included and sums.taxes else 0)
            rows.append(("subtotal", look.label("subtotal"), net, None))
        if sums.discount:
            rows.append(("discount", look.label("discount"), sums.discount, None))
        if sums.shipping:
            rows.append(("shipping", look.label("shipping"), sums.shipping, None))
        show_tax = bool(sums.taxes) and (not retail or random.random() < 0.85)
        if show_tax:
            for tax in sums.taxes:
                label, rate = _tax_label(random, look, tax, tax_form)
                rows.append(("tax", label, tax.amount, rate))
            if len(sums.taxes) > 1 and random.random() < 0.6:
                rows.append(("tax_total", look.label("tax_total"), sum(tax.amount for tax in sums.taxes), None))
    total_label = look.label("receipt_total" if retail else "total") + form.total_label_money
    total_row: tuple[str, str, int, Value | None] = ("total", total_label, sums.total, None)
    if sums.tax_included and random.random() < 0.5:
        rows = [row for row in rows if row[0] == "subtotal"] + [total_row] + [r for r in rows if r[0] != "subtotal"]
    else:
        rows.append(total_row)

    marks: Marks = {"taxes": []}
    colon = random.choice((look.colon, ""))
    wide = max(look.strong.width(label + colon) for _, label, _, _ in rows)
    column = x0 + wide + random.uniform(0.8, 2.5) * look.size
    for field, label, cents, rate in rows:
        emphatic = field == "total"
        face, ink = look.body, look.ink
        if emphatic:
            y += 0.25 * look.size
            if form.emphasis != "plain":
                face = look.strong
            if form.emphasis == "large":
                face = Face(face.font, look.size * 1.35)
                y += 0.35 * look.size
            pad = 0.4 * look.size
            if form.emphasis in ("shade", "dark"):
                y += 0.3 * look.size
                fill: Ink = look.shade(0.18) if form.emphasis == "shade" else (look.accent if look.coloured else 0.2)
                paper.box(x0 - pad, y - 1.15 * look.size, x1 - x0 + 2 * pad, 1.7 * look.size, fill=fill)
                ink = look.ink if form.emphasis == "shade" else 1.0
            elif form.emphasis == "rule":
                paper.rule(x0, y - 1.1 * face.size, x1, y - 1.1 * face.size, width=0.8, ink=look.accent_ink)
        printed = look.signed(cents)[0] if form.signs == "all" or emphatic else look.money(cents)
        signed = form.signs == "all" or emphatic
        if field == "discount":
            printed = printed.within("-") if look.minus != "after" else printed
        if form.right:
            label_x, align = (x1 - (column - x0), "right") if form.labels_right else (x0, "left")
            if form.labels_right:
                label_x = x1 - max(look.strong.width(look.signed(row[2])[0].shown) * 1.4 for row in rows) - look.size
            run = paper.text(label_x, y, label + colon, face, ink=ink, align=align)
            mark = paper.value(x1, y, printed, face, ink=ink, align="right")
        else:
            run = paper.text(x0, y, label + colon, face, ink=ink)
            mark = paper.value(max(column, paper.right_end(run) + 4), y, printed, face, ink=ink)
            if paper.right_end(mark.pieces[0][1]) > x1:
                raise DoesNotFit("totals")
        if field == "tax":
            rate_mark = Mark(rate, ((0, run, 0),)) if rate is not None else None
            marks["taxes"].append({"rate": rate_mark, "amount": mark})
            if len(sums.taxes) == 1:
                marks |= {"tax": mark, "tax_rate": rate_mark}
        elif field == "tax_total":
            marks["tax"] = mark
        else:
            marks[field] = mark
        if signed and field != "discount":
            found = sign_mark(look, cents, mark)
            if found is not None:
                marks["currency"] = found
        if emphatic and form.total_label_money:
            sign = form.total_label_money.strip(" ()").removeprefix("in ")
            marks["currency"] = Mark(look.currency_value(sign), ((0, run, (label + colon).rindex(sign)),))
        y += look.step * (1.15 if emphatic else 1)
    return marks, y
