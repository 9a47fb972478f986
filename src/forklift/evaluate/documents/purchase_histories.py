"""Purchase histories of one customer: order after order, with returns, cancellations and vouchers among them."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from random import Random

from forklift.evaluate.documents import names
from forklift.evaluate.documents.brief import Brief, MadeDocument
from forklift.evaluate.documents.flow import Flow
from forklift.evaluate.documents.letterhead import make_letterhead
from forklift.evaluate.documents.notation import any_day, days_after, make_notation
from forklift.evaluate.documents.prose import Prose, remark
from forklift.evaluate.documents.style import make_style
from forklift.evaluate.documents.tables import Row, Table, TableColumn, plain
from forklift.evaluate.documents.truth import Column, Label, Truth

_GOODS: dict[str, tuple[str, ...]] = {
    "Household": ("Kettle", "Desk lamp", "Towel set", "Storage box", "Frying pan", "Curtain", "Door mat", "Wall clock"),
    "Garden": ("Watering can", "Seed mix", "Pruning shears", "Flower pot", "Garden hose", "Rake", "Bird feeder"),
    "Office": (
        "Printer paper",
        "Stapler",
        "Ring binder",
        "Whiteboard",
        "Desk organiser",
        "Marker set",
        "Envelope pack",
    ),
    "Electronics": ("USB cable", "Headphones", "Power bank", "Keyboard", "Web camera", "Card reader", "Router"),
    "Sports": ("Yoga mat", "Water bottle", "Skipping rope", "Rucksack", "Bicycle light", "Training ball"),
}
_SORTS = "small,large,blue,green,black,grey,set of 2,set of 4,classic,compact,basic,premium".split(",")
_PAYMENTS = ("Card", "Invoice", "Direct debit")


@dataclass(frozen=True)
class _Item:
    article: str
    name: str
    category: str
    quantity: int
    price: int  # cents

    @property
    def amount(self) -> int:
        return self.quantity * self.price


@dataclass(frozen=True)
class _Order:
    """returned: index of the item that was sent back, or -1. voucher: cents that a voucher paid."""

    number: str
    day: datetime.date
    items: tuple[_Item, ...]
    status: str
    payment: str
    shipping: int
    voucher: int
    returned: int
    returned_on: datetime.date

    @property
    def goods(self) -> int:
        return sum(item.amount for item in self.items)

    @property
    def total(self) -> int:
        return self.goods + self.shipping - self.voucher

    @property
    def is_cancelled(self) -> bool:
        return self.status == "Cancelled"


def make_purchase_history(brief: Brief) -> MadeDocument:
    history = _History(brief)
    history.draw()
    return MadeDocument(history.flow, history.truth(), f"{history.title} {history.customer_number}")


class _History:
    def __init__(self, brief: Brief) -> None:
        self.brief = brief
        self.random = random = brief.random
        self.notation = make_notation(random)
        self.shop = f"{names.word(random)} {random.choice(('Mail Order', 'Online Store', 'Direct', 'Warehouse'))}"
        self.customer = f"Example Household {random.randint(11, 99)}"
        self.customer_number, self.card_number = names.digits(random, 8), names.digits(random, 8)
        self.title = random.choice(("Purchase history", "Order history", "Your orders"))
        self.member_since = any_day(random, 2008, 2018)
        self.home, self.parcel_shop = names.address(random), names.address(random)
        self.second_address = None if brief.hard(0.3, 0.7) else names.address(random)
        self.points_expiring = random.randint(50, 900)
        self.points = self.points_expiring + random.randint(200, 8_000)
        self.coupon = None if brief.hard(0.4, 0.8) else names.code(random, "CP")
        style = make_style(random)
        self.flow = Flow(
            make_letterhead(
                random, style, self.shop, names.address(random), self.title, self.customer_number, self.notation.remark
            )
        )
        self.orders = self._make_orders((style.size - 1.5) * 1.25 + 5.2)
        self.start, self.end = self.orders[0].day.replace(day=1), days_after(self.orders[-1].day, random.randint(1, 9))
        self.printed_on = days_after(self.end, random.randint(1, 5))
        self.prints_totals = not brief.hard(0.2, 0.9)
        self.note = remark(random, random.choice((5, 6, 7)))
        self.note_crosses = False

    def _make_orders(self, row_height: float) -> list[_Order]:
        random, brief = self.random, self.brief
        lines = (brief.pages - 2.0) * 615.0 / row_height
        counts: list[int] = []
        while lines > 0 or len(counts) < 12:
            counts.append(random.choice((1, 2, 2, 3, 3, 4, 5, 7)))
            lines -= counts[-1] + 6.2
        special = random.sample(range(len(counts) - 1), min(len(counts) - 1, 9))
        cancelled = set(special[: brief.many(1, 3)])
        returned = set(special[3 : 3 + brief.many(2, 6)])
        day = any_day(random, 2019, 2021)
        prefix = random.choice(("", "B", "W-", "OR"))
        numbers = names.distinct(random, len(counts), lambda r: prefix + names.digits(r, 8))
        orders = []
        for index, count in enumerate(counts):
            day = days_after(day, random.randint(1, max(2, 1500 // len(counts))))
            items = tuple(_make_item(random) for _ in range(count))
            goods = sum(item.amount for item in items)
            is_cancelled = index in cancelled
            status = "Cancelled" if is_cancelled else "Delivered"
            voucher = random.choice((500, 1_000, 1_500)) if random.random() < 0.12 and goods > 3_000 else 0
            orders.append(
                _Order(
                    *(numbers[index], day, items, status, random.choice(_PAYMENTS)),
                    shipping=0 if goods > 4_000 else 495,
                    voucher=voucher,
                    returned=random.randrange(count) if index in returned and not is_cancelled else -1,
                    returned_on=days_after(day, random.randint(5, 20)),
                )
            )
        return orders

    @property
    def valid(self) -> list[_Order]:
        return [order for order in self.orders if not order.is_cancelled]

    @property
    def returns(self) -> list[tuple[_Order, _Item]]:
        return [(order, order.items[order.returned]) for order in self.orders if order.returned >= 0]

    @property
    def total_spent(self) -> int:
        return sum(order.total for order in self.valid)

    def category_total(self, category: str) -> int:
        return sum(item.amount for order in self.valid for item in order.items if item.category == category)

    def draw(self) -> None:
        self._front()
        as_panel = self.random.random() < 0.5
        year = 0
        for order in self.orders:
            if order.day.year != year:
                year = order.day.year
                self.flow.heading(str(year), keep=110)
            self._order(order, as_panel)
        self._closing()
        self.flow.finish()

    def _front(self) -> None:
        flow, notation, random = self.flow, self.notation, self.random
        top, right = flow.y, flow.page_left + flow.page_width
        flow.block([self.customer, *self.home], flow.left, top + 4, heading="Account and delivery address")
        meta = [
            ("Customer no.", self.customer_number),
            ("Bonus card no.", self.card_number),
            ("Customer since", notation.date(self.member_since)),
            ("Points", notation.whole(self.points)),
            ("of which expiring", notation.whole(self.points_expiring)),
            ("Printed", notation.date(self.printed_on)),
        ]
        flow.y = max(flow.panel(meta, right - 240, top, 240, look=random.randrange(3)), top + 90) + 8
        flow.title(
            self.title,
            below=f"{notation.date(self.start)} to {notation.date(self.end)}, all amounts in {notation.currency}",
        )
        if self.second_address:
            flow.paragraph(f"Second delivery address: {', '.join(self.second_address)}")
        flow.paragraph(f"Your parcel shop: {', '.join(self.parcel_shop)}")
        if self.coupon:
            flow.note(f"A thank-you for you: coupon {self.coupon} for your next order.")
        if self.prints_totals:
            flow.heading("At a glance", level=2)
            rows = [plain(name, notation.amount(self.category_total(name))) for name in _GOODS]
            rows.append(
                Row(
                    (
                        "Orders without cancelled ones, shipping and vouchers included",
                        notation.amount(self.total_spent),
                    ),
                    "total",
                )
            )
            Table(flow, (TableColumn("Goods by category", wraps=True), TableColumn("Amount", "right"))).write(rows)
            flow.paragraph(f"{len(self.orders)} orders, {len(self.orders) - len(self.valid)} of them cancelled.")

    def _order(self, order: _Order, as_panel: bool) -> None:
        flow, notation = self.flow, self.notation
        flow.heading(f"Order {order.number}", level=2, keep=90)
        if as_panel:
            flow.pairs(
                [("Date", notation.date(order.day)), ("Status", order.status), ("Payment", order.payment)],
                columns=3,
                label_width=48,
            )
        else:
            flow.paragraph(
                f"{notation.date(order.day)}  ·  {order.status}  ·  paid by {order.payment.lower()}",
                italic=True,
                after=2,
            )
        columns = (
            *(TableColumn("Article"), TableColumn("Item", wraps=True, share=2.0), TableColumn("Category")),
            *(TableColumn("Qty", "right"), TableColumn("Price", "right"), TableColumn("Amount", "right")),
        )
        rows = [
            plain(
                *(item.article, item.name, item.category, str(item.quantity)),
                *(notation.amount(item.price), notation.amount(item.amount)),
            )
            for item in order.items
        ]
        rows.append(plain("", "Shipping", "", "", "", notation.amount(order.shipping)))
        if order.voucher:
            rows.append(plain("", "Voucher", "", "", "", notation.amount(-order.voucher)))
        rows.append(Row(("", "Total", "", "", "", notation.amount(order.total)), "total"))
        Table(flow, columns, small=True).write(rows)
        if order.returned >= 0:
            item = order.items[order.returned]
            flow.paragraph(
                f"Returned on {notation.date(order.returned_on)}: {item.article}, refund {notation.money(item.amount)}",
                small=True,
            )

    def _closing(self) -> None:
        flow, random = self.flow, self.random
        prose = Prose(random, "purchases")
        flow.heading("About this list")
        crossing = self.brief.hard(0.3, 0.9)
        span = flow.passage(
            "Message of the customer desk", self.note, crossing=crossing, filler=lambda: prose.paragraph(2, 3)
        )
        self.note_crosses = span.crosses
        flow.in_columns([prose.paragraph(2, 4) for _ in range(random.randint(3, 6))])

    def truth(self) -> Truth:
        truth = Truth("A shop's list of one customer's orders")
        truth.put("shop", "text", self.shop, "Name of the shop")
        truth.put("customer", "text", self.customer, "Name of the customer")
        truth.put("customer_number", "text", self.customer_number, "Number of the customer", near=(self.card_number,))
        truth.put("customer_since", "date", self.member_since, "Date since which the customer is registered")
        truth.put("period_start", "date", self.start, "First day that the list covers", near=(self.orders[0].day,))
        truth.put(
            "period_end", "date", self.end, "Last day that the list covers", near=(self.printed_on, self.orders[-1].day)
        )
        truth.put("print_date", "date", self.printed_on, "Date on which the list was printed", near=(self.end,))
        truth.put("currency", "text", self.notation.currency, "Three-letter ISO code of the currency")
        truth.put("points", "integer", self.points, "Bonus points in all", near=(self.points_expiring,))
        truth.put("home_street", "text", self.home[0], "Street of the account's address", near=(self.parcel_shop[0],))
        truth.put(
            "second_street",
            "text",
            self.second_address[0] if self.second_address else None,
            "Street of the second delivery address",
            near=(self.parcel_shop[0], self.home[0]),
        )
        truth.put("coupon_code", "text", self.coupon, "Code of a coupon for the next order")
        truth.put("gift_card_balance", "amount", None, "Balance of a gift card")
        counted: tuple[Label, ...] = ("aggregated",) if self.prints_totals else ("aggregated", "derived")
        truth.put(
            "order_count",
            "integer",
            len(self.orders),
            "Number of orders in the list, cancelled ones included",
            labels=counted,
        )
        truth.put(
            "total_spent",
            "amount",
            self.total_spent,
            "Sum of the totals of all orders that were not cancelled; refunds are not subtracted",
            labels=counted,
        )
        for category in ("Garden", "Electronics"):
            truth.put(
                f"spent_on_{category.lower()}",
                "amount",
                self.category_total(category),
                f"Sum of the amounts of all items of the category {category} in orders that were not cancelled",
                labels=counted,
            )
        truth.records(
            "returned_items",
            "Every item that was returned, in the order of the list",
            (
                Column("order_number", "text", "Number of the order"),
                Column("article", "text", "Article number of the item"),
                Column("returned_on", "date", "Date of the return"),
                Column("refund", "amount", "Amount that was refunded"),
            ),
            [(order.number, item.article, order.returned_on, item.amount) for order, item in self.returns],
            labels=("exhaustive_list", "aggregated"),
        )
        truth.put(
            "refund_total",
            "amount",
            sum(item.amount for _, item in self.returns),
            "Sum of all refunds",
            labels=("aggregated", "derived"),
        )
        truth.records(
            "cancelled_orders",
            "Every order that was cancelled, in the order of the list",
            (
                Column("order_number", "text", "Number of the order"),
                Column("date", "date", "Date of the order"),
                Column("total", "amount", "Total of the order"),
            ),
            [(order.number, order.day, order.total) for order in self.orders if order.is_cancelled],
            labels=("exhaustive_list", "aggregated"),
        )
        largest, second = sorted(self.valid, key=lambda order: order.total, reverse=True)[:2]
        for name, order, other, description in (
            ("largest_order", largest, second, "The order with the largest total among those not cancelled"),
            ("last_order", self.orders[-1], self.orders[-2], "The latest order of the list"),
        ):
            part = truth.part(name, description)
            part.put("order_number", "text", order.number, "Number of the order", labels=("aggregated",))
            part.put("date", "date", order.day, "Date of the order", labels=("aggregated",))
            part.put("total", "amount", order.total, "Total of the order", labels=("aggregated",), near=(other.total,))
            part.put(
                "item_count", "integer", len(order.items), "Number of different items in the order", labels=("derived",)
            )
        truth.put(
            "message",
            "text",
            self.note,
            "The message of the customer desk in full, without its heading",
            labels=("spans_pages",) if self.note_crosses else (),
        )
        return truth


def _make_item(random: Random) -> _Item:
    category = random.choice(tuple(_GOODS))
    name = f"{random.choice(_GOODS[category])}, {random.choice(_SORTS)}"
    quantity = random.choice((1, 1, 1, 1, 2, 2, 3, 4))
    price = random.choice((95, 90, 99, 50)) + 100 * random.randint(2, 79)
    return _Item(f"{names.letters(random, 1)}{names.digits(random, 6)}", name, category, quantity, price)
