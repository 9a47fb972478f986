"""Sentences that fill documents. They state nothing that a schema asks for."""

from __future__ import annotations

from random import Random

from forklift.evaluate.documents import names

_SENTENCES: dict[str, tuple[str, ...]] = {
    "invoice": (
        "Deliveries are made to the gate of the site unless a place of unloading was agreed in writing.",
        "Visible damage has to be noted on the delivery slip before the carrier leaves.",
        "Pallets and crates remain our property and are collected with the next delivery.",
        "Prices are those of the list that was valid on the day of the call-off.",
        "Lines of less than a full packing unit are charged by the piece.",
        "Part deliveries are invoiced together at the end of the period.",
        "The goods remain ours until every claim from the business relation is settled.",
        "Safety data sheets are handed out with the first delivery and on request.",
        "Returned goods are credited after inspection in our warehouse in {town}.",
        "Please state the item code and the delivery slip in every enquiry.",
        "Surcharges for express transport are shown in lines of their own.",
        "Items marked as obsolete in the list are supplied while stocks last.",
        "Our general terms of sale apply; they can be read at any of our branches.",
        "Packing material is taken back free of charge when it is clean and sorted.",
        "Drawings and samples are lent for evaluation and must not be passed on.",
    ),
    "bank": (
        "Entries are booked in the order in which they reach us.",
        "Please check this statement at once and report objections to your branch in writing.",
        "Cheques are credited subject to collection.",
        "The value date may differ from the booking date.",
        "Cards that are lost have to be blocked by telephone without delay.",
        "Our list of prices and services is displayed in every branch and at our site.",
        "Payments in another currency are converted at the rate of the day before booking.",
        "Standing instructions can be changed until noon of the business day before execution.",
        "Deposits are protected by the scheme that is named in our general conditions.",
        "Statements are kept in the electronic mailbox for ten years.",
        "Instant transfers are executed around the clock, on holidays too.",
        "Confidential numbers are never asked for by our staff, neither by telephone nor by mail.",
        "Branch {town} will be closed for renovation and served by the branch next to it.",
    ),
    "contract": (
        "The Provider shall perform the Services with the skill and care of an experienced supplier of such services.",
        "The Client shall give access to its premises, systems and staff as far as the Services need it.",
        "Neither party is liable for delay that was caused by events beyond its reasonable control.",
        "Each party shall keep confidential what it learns about the business of the other party.",
        "Changes to the Services are agreed in writing in the form of a change request.",
        "The Provider may use subcontractors and remains responsible for what they do.",
        "Rights in materials that existed before this Agreement remain with the party that owned them.",
        "Records of the Services are kept in a form that allows an independent examination.",
        "A waiver of a right in one case is no waiver in any other case.",
        "If a provision is found to be invalid, the other provisions stay in force.",
        "Headings are for convenience and do not affect the meaning of a clause.",
        "The parties shall try to settle a dispute between their project leads before any other step.",
        "Personal data are processed only on documented instructions and within the agreed systems.",
        "The Provider shall name a replacement of equal qualification when a key role falls vacant.",
        "Acceptance is declared in writing once the criteria of the relevant Schedule are met.",
        "Nothing in this Agreement makes one party the agent or partner of the other.",
        "Tools that the Client lends are returned in the state in which they were handed over.",
        "The Provider shall follow the house rules of site {town} as they are displayed there.",
        "Reports are delivered in electronic form to the address that the Client has named for them.",
        "Where a Schedule and a clause differ, the clause prevails unless the Schedule says otherwise.",
        "The Client may reject deliverables that show more than minor faults.",
        "Both parties shall name a contact who can decide about matters of daily work.",
    ),
    "finance": (
        "Demand in the region of {town} developed better than the market as a whole.",
        "Management expects a stable development, while prices of materials remain hard to foresee.",
        "Inventories are measured at the lower of cost and net realisable value.",
        "Estimates are reviewed at each reporting date and changed when new facts require it.",
        "The group hedges part of its purchases in foreign currencies by forward contracts.",
        "Property, plant and equipment are depreciated on a straight-line basis over their useful lives.",
        "Receivables are written down where collection is doubtful.",
        "The programme to renew the production lines in {town} went on as planned.",
        "Provisions are recognised when an outflow is probable and its amount can be estimated.",
        "Leases of low value are expensed as they are incurred.",
        "New orders were won above all from existing customers.",
        "Balances between companies of the group are eliminated on consolidation.",
        "The board met regularly and was informed about all matters of importance.",
        "Development costs are capitalised once technical feasibility has been shown.",
        "Borrowing costs of long projects are part of the cost of the asset.",
        "Risks are collected from all units twice a year and weighed by likelihood and damage.",
        "Comparative figures were adjusted where the presentation has changed.",
        "The works in {town} took over tasks of two smaller workshops.",
        "Suppliers were visited according to the plan, and most of them met the agreed standard.",
        "Freight became dearer in the first half and cheaper in the second.",
        "A new sales office in {town} serves customers in the surrounding regions.",
        "Training was mainly given in the workplace and in small groups.",
        "Energy use a unit of output fell again, also because of the mild winter.",
        "Software for planning was rolled out in {town} without an interruption of deliveries.",
        "No single customer stands for a share of sales that would be a risk of its own.",
        "The order book at the reporting date gives work for several months.",
        "Exchange rates had little effect on the figures of the period.",
    ),
    "laboratory": (
        "Reference intervals depend on age, sex and method and are those of this laboratory.",
        "Results marked with a flag lie outside of the reference interval.",
        "Specimens are kept refrigerated for seven days after the report.",
        "Measurement uncertainty is available on request for every method.",
        "Haemolysis in a specimen may raise potassium and some enzymes.",
        "Interpretation has to take the clinical findings and the course into account.",
        "The laboratory takes part in external quality assessment for all methods listed here.",
        "Results of other laboratories may differ because of other methods.",
        "Methods: photometry, ion selective electrodes, flow cytometry, immunoassay.",
        "Tests added by telephone are confirmed in writing by the ordering unit.",
        "Specimens with insufficient volume are reported as such and not measured.",
        "Critical results are passed on to the ward by telephone as soon as they are confirmed.",
        "The electronic report is the binding one; copies on paper are for information.",
    ),
    "purchases": (
        "Prices include tax at the rate of the country of delivery.",
        "Items of one order may be shipped in several parcels.",
        "Returns are free within the period that is stated in our conditions of sale.",
        "Refunds go to the means of payment that was used for the order.",
        "Digital items are available at once and cannot be returned.",
        "Points are booked when the period for returns is over.",
        "Orders placed by telephone appear in this list on the next day.",
        "Gift wrapping is charged by the item and not refunded.",
        "The list shows orders of this customer account only.",
        "Delivery to a parcel shop such as {town} Central is possible for most items.",
        "Reviews can be written for every item that was delivered.",
        "Vouchers are valid for three years from the end of the year of issue.",
    ),
}

_REMARK_PARTS = (
    "Case {code} was opened after the call of site {town} and is still being looked into",
    "the goods concerned were moved to hall {number} and sealed there until both sides have inspected them",
    "our colleague on duty confirmed the count of {number} pieces with the sheet {code}",
    "a first review by the branch in {town} found no fault with packing or transport",
    "the parties agreed to meet in {town} and to settle the matter by exchange of letters",
    "until then the file {code} stays open and nothing in it may be read as a consent",
    "copies of the papers were sent to desk {number} under the reference {code}",
    "the corrected sheet replaces all earlier ones and was handed over in {town}",
    "a second reading by desk {number} is due once the missing page of {code} has been found",
    "whoever takes over the file shall first speak to the desk in {town}",
)


class Prose:
    """Sentences of one domain in an order of their own, none repeated before all have been used."""

    def __init__(self, random: Random, domain: str) -> None:
        self._random = random
        self._sentences = _SENTENCES[domain]
        self._left: list[str] = []

    def sentence(self) -> str:
        if not self._left:
            self._left = list(self._sentences)
            self._random.shuffle(self._left)
        return self._left.pop().format(town=names.town(self._random))

    def paragraph(self, fewest: int = 2, most: int = 5) -> str:
        return " ".join(self.sentence() for _ in range(self._random.randint(fewest, most)))


def remark(random: Random, parts: int = 6) -> str:
    """A passage of several lines that no other document has, as one asks to be quoted in full."""
    chosen = random.sample(_REMARK_PARTS, parts)
    shown = [
        part.format(town=names.town(random), code=names.code(random), number=random.randint(11, 98)) for part in chosen
    ]
    sentences = [f"{shown[index]}; {shown[index + 1]}" for index in range(0, parts - 1, 2)]
    if parts % 2:
        sentences.append(shown[-1])
    return " ".join(sentence[0].upper() + sentence[1:] + "." for sentence in sentences)
