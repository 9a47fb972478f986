"""Labels: whether "Due date:" stands beside a place on the page, above it, or at the head of its column."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from forklift.evidence.dates import without_accents
from forklift.evidence.occurrences import Occurrence
from forklift.evidence.word_index import WordIndex

_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_a-zA-Z]+")
_SHORTENED = {"no": "number", "nr": "number", "num": "number", "nº": "number", "№": "number", "#": "number"} | {
    "qty": "quantity",
    "amt": "amount",
    "id": "number",
    "tel": "phone",
    "iss": "issued",
}
# What pages print instead of a field's own name.
_SYNONYMS = {
    "total": "sum balance due payable pay gesamt summe gesamtbetrag totale montant importe totaal saldo",
    "subtotal": "net netto sub zwischensumme imponibile base subtotaal subtotale goods",
    "tax": "vat gst hst pst mwst ust tva iva btw steuer",
    "quantity": "pcs units count pieces menge anzahl quantite cantidad quantita aantal stk",
    "price": "rate cost each preis prix precio prezzo prijs",
    "amount": "total sum value net betrag montant importe importo bedrag",
    "description": "item product details article service artikel bezeichnung designation descripcion omschrijving",
    "date": "issued issue datum fecha data delivered on",
    "due": "payable pay by fallig echeance vencimiento scadenza",
    "number": "ref reference nummer numero id",
    "vendor": "from seller supplier company issuer lieferant fournisseur proveedor fornitore",
    "customer": "bill billed client buyer sold to kunde kunden cliente klant invoice",
    "payment": "paid pay tender zahlung paiement pago pagamento betaling",
    "currency": "curr wahrung devise moneda valuta",
}
_MEANS = {name: frozenset(words.split()) for name, words in _SYNONYMS.items()}
_SYNONYM = 0.8  # what a synonym counts, where the word itself counts one
_LONGEST_PHRASE = 5  # words of a label
_HEIGHTS_ABOVE = 2.6  # how far up a label may stand over its value
_LINES_OF_HEAD = 6  # how far above the first row the head of a table may stand


def name_words(name: str) -> frozenset[str]:
    """The words of a property's name or title: "dueDate", "due_date" and "Due date" are {due, date}."""
    return frozenset(_word(part) for part in _PARTS.findall(name)) - {""}


def _word(text: str) -> str:
    plain = without_accents(text).strip(".,:;()[]*/-")
    return _SHORTENED.get(plain, plain)


def likeness(phrase: Iterable[str], names: Sequence[frozenset[str]]) -> float:
    """How well a printed phrase says one of the names, 0-1: F1 over words; shortened ones and synonyms count."""
    words = {word for word in map(_word, phrase) if word and not any(character.isdigit() for character in word)}
    if not words:
        return 0.0
    best = 0.0
    for name in names:
        matched = sum(max((_same(word, part) for word in words), default=0.0) for part in name)
        best = max(best, 2 * matched / (len(words) + len(name)))
    return min(best, 1.0)


def _same(printed: str, part: str) -> float:
    short, long = sorted((printed, part), key=len)
    if short == long or (len(short) >= 3 and long.startswith(short)):
        return 1.0
    return _SYNONYM if printed in _MEANS.get(part, ()) else 0.0


class Labels:
    """Reads the labels at places of one document."""

    def __init__(self, index: WordIndex) -> None:
        self._index = index
        self._phrases: dict[int, tuple[tuple[str, ...], ...]] = {}

    def at(self, place: Occurrence, names: Sequence[frozenset[str]]) -> float:
        """How well the label at `place` says one of the names, 0-1."""
        first = place.words[0]
        if first not in self._phrases:
            self._phrases[first] = tuple(filter(None, (self._beside(first), self._above(first))))
        return max((likeness(phrase, names) for phrase in self._phrases[first]), default=0.0)

    def _beside(self, word: int) -> tuple[str, ...]:
        """The phrase to the left on the same line, over whatever gap."""
        index = self._index
        words: list[int] = []
        current = index.neighbour(word, -1)
        # The value's own sign and other values are no label.
        while current is not None and not any(character.isalpha() for character in index.texts[current]):
            current = index.neighbour(current, -1)
        while current is not None and len(words) < _LONGEST_PHRASE:
            words.append(current)
            if index.texts[current].endswith(":") and len(words) > 1:
                words.pop()  # the label before this one
                break
            current = index.near(current, -1)
        return tuple(index.texts[one] for one in words)

    def _above(self, word: int) -> tuple[str, ...]:
        """The phrase on the next line up that stands over the value."""
        index = self._index
        page, height = index.page_of[word], index.height(word)
        for line in range(index.line_of[word] - 1, max(index.line_of[word] - 4, -1), -1):
            words = index.lines[line]
            if index.page_of[words[0]] != page or index.top[word] - index.bottom[words[0]] > _HEIGHTS_ABOVE * height:
                return ()
            over = [one for one in words if index.left[one] < index.right[word] and index.right[one] > index.left[word]]
            if over:
                return self._phrase(over[0])
        return ()

    def _phrase(self, word: int) -> tuple[str, ...]:
        index = self._index
        words = [word]
        for step in (-1, 1):
            current = index.near(word, step)
            while current is not None and len(words) < _LONGEST_PHRASE:
                words.append(current)
                current = index.near(current, step)
        return tuple(index.texts[one] for one in words)

    def heads(self, names: Sequence[frozenset[str]], first_line: int) -> list[tuple[float, float, float]]:
        """Phrases above the line that may head the column of these names: likeness, left, right."""
        index = self._index
        found = []
        page = index.page_of[index.lines[first_line][0]]
        for line in range(first_line - 1, max(first_line - 1 - _LINES_OF_HEAD, -1), -1):
            words = index.lines[line]
            if index.page_of[words[0]] != page:
                break
            for word in words:
                if index.near(word, -1) is not None:
                    continue
                phrase = [word]
                while (following := index.near(phrase[-1], 1)) is not None:
                    phrase.append(following)
                like = likeness((index.texts[one] for one in phrase), names)
                if like:
                    found.append((like, index.left[word], index.right[phrase[-1]]))
        return found
