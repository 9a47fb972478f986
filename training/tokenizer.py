"""nano's tokenizer: schemas in few tokens, values one character at a time.

A tiny model reads a value glyph by glyph, so values are spelled in single characters. What is not read from the page
(the skeleton of a JSON Schema, field names, descriptions, the punctuation between two values) comes in long tokens
instead: a bundled schema takes about a third of the tokens that its page takes.

It is a byte-level BPE without merges: a regular expression cuts text into pieces, a piece that is in the vocabulary is
one token, any other falls apart into bytes. So every text has a spelling, in any language.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers

from training.nano import CHARACTERS

SPECIALS = (
    "<|endoftext|>",
    "<|im_start|>",
    "<|im_end|>",
    "<|vision_start|>",
    "<|vision_end|>",
    "<|image_pad|>",
    "<|video_pad|>",
)
VOCABULARY_SIZE = 1664  # a multiple of 64; the last rows are unused

# The punctuation of an answer in nano's form: ", " and ": " on one line.
_ANSWER = (
    '{"',
    '": "',
    '": ',
    '", "',
    ', "',
    '"}',
    "}",
    '": [',
    '": [{"',
    '[{"',
    '}, {"',
    '"}, {"',
    '}], "',
    '"}], "',
    "}]}",
    '"}]}',
    '": {"',
    '}, "',
    '"}, "',
    "}}",
    '"}}',
    '["',
    '"], "',
    '], "',
    '"]',
    "]",
    "[]",
    "{}",
    '": []',
    "null",
    "true",
    "false",
)

_WORDS = """
a about account across address after all amount amounts an and any are array as at author average balance bank base
before begin below beneficiary between bic bill billed billing birth boolean both box branch bread buyer by call
card carrier case cash category cents change charge charges check city class clause client closing code column
comment commission company condition conditions const contact contract copy cost country credit currency current
customer date dates day days debit decimal default delivery deposit description detail details digits discount do
document documents does due duration each effective email employer end ending entries entry enum euro excluding
expiry export false fax fee fees field fields file fill final first for format formatted from full given grand gross
group has header height hotel iban id identifier if import in includes including index industry initial integer
invoice invoiced is issue issued issuer item items its kind label language last left legal length letter line lines
list loan local location long lot mail maximum means merchant message method minimum minor mobile mode model month
monthly more name names national net nil no not note notes null number numbers object of on one only open opening or
order ordered ordering orders organisation origin other out over owner page pages paid parent part party passport
pay payable payee payer paying payment payments percent percentage period person phone place postal postcode price
prices print printed product products project properties property provider purchase purchased purchases purpose
quantity quarter rate rates read reason receipt received recipient record reference refund region registration
remaining rent required result return role row rows sale sales schema section see sell seller sends serial service
services sheet shipped shipping shop short show shown sign signature sku small sold source start starting state
statement status store street string sub subject subtotal sum supplier surname symbol table tax taxable taxes
telephone term terms text than that the there this time tip title to total totals transaction transactions transfer
true two type unit units until up upon url user value values vat vendor version was way website week weight what
when where which who whole whom width with without word words write written year yes zip customers suppliers
assistant system json iso three here before goods ship seller's
""".split()


_LABELS = """Account Address All Amount Average Balance Bank Bill Company Country Currency Customer Date Day Delivery
Description Discount Document Due First From Full Gross ISO In Invoice Issue Item Last Line Name Net Number One Order
Payment Percent Period Person Phone Price Product Purchase Quantity Rate Read Receipt Seller Service Shop Subtotal Sum
Tax The Three Total Type Unit Value Vendor Write What When Where Who JSON Schema"""


def _schema_pieces() -> Iterator[str]:
    """The skeleton of an indented JSON Schema, in pieces, at the depths where properties usually stand."""
    kinds = ("string", "number", "integer", "boolean")
    yield '{\n  "type": "object",\n  "properties": {\n    "'
    for depth in (4, 8, 10, 14):
        outer, inner, deep = " " * depth, " " * (depth + 2), " " * (depth + 4)
        for kind in kinds:
            yield f'": {{\n{inner}"type": [\n{deep}"{kind}",\n{deep}"null"\n{inner}]'
            yield f'": {{\n{inner}"type": "{kind}"'
        yield f',\n{inner}"description": "'
        yield f',\n{inner}"format": "date"'
        yield f',\n{inner}"enum": [\n{deep}"'
        yield f'",\n{deep}"'
        yield f'"\n{inner}]'
        yield f'",\n{deep}null\n{inner}]'
        yield f'"\n{outer}}},\n{outer}"'
        yield f'\n{outer}}},\n{outer}"'
        yield f'": {{\n{inner}"type": "array"'
        yield f'": {{\n{inner}"type": "object"'
        yield f',\n{inner}"items": {{\n{deep}"type": "object",\n{deep}"properties": {{\n{deep}  "'
        yield f'"items": {{\n{deep}"type": "object",\n{deep}"properties": {{\n{deep}  "'
        yield f',\n{inner}"properties": {{\n{deep}"'
        yield f'"\n{outer}}}\n{outer[2:]}}}'
        yield f"\n{outer}}}\n{outer[2:]}}}"
    for spaces in range(0, 26, 2):
        yield "\n" + " " * spaces
    yield "\n\n"


def _byte_letters() -> dict[int, str]:
    """The printable stand-in of each byte, as byte-level tokenizers write their vocabularies."""
    kept = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = (byte for byte in range(256) if byte not in kept)
    return {byte: chr(byte) for byte in kept} | {byte: chr(256 + index) for index, byte in enumerate(others)}


_LETTERS = _byte_letters()


def _spelled(text: str) -> str:
    return "".join(_LETTERS[byte] for byte in text.encode())


def build_tokenizer() -> Tokenizer:
    """Always the same tokenizer: nothing is learnt from data."""
    pieces = sorted({*_ANSWER, *_schema_pieces()}, key=lambda piece: (-len(piece), piece))
    words: list[str] = []
    for word in dict.fromkeys(_WORDS):
        words += [word, " " + word, "_" + word]
    words += _LABELS.split()
    vocabulary: dict[str, int] = {}
    for text in SPECIALS:
        vocabulary[text] = len(vocabulary)
    for byte in range(256):
        vocabulary.setdefault(_LETTERS[byte], len(vocabulary))
    for text in [*CHARACTERS, *pieces, *words]:
        vocabulary.setdefault(_spelled(text), len(vocabulary))
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[], ignore_merges=True))
    pattern = "|".join(
        [
            *(re.escape(piece).replace("\\\n", "\\n").replace("\\ ", " ") for piece in pieces),
            "[ _]?[a-z]+",
            "[A-Z][a-z]+",
            "[A-Z]{2,}(?![a-z])",
            r"[\s\S]",
        ]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(pattern), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken(text, special=True, normalized=False) for text in SPECIALS])
    return tokenizer


def character_ids(tokenizer: Tokenizer) -> dict[str, int]:
    """The one-character tokens of every printable character that has one."""
    ids = {character: tokenizer.token_to_id(_spelled(character)) for character in [*CHARACTERS, " "]}
    return {character: token for character, token in ids.items() if token is not None}


def spell(text: str, ids: dict[str, int], tokenizer: Tokenizer) -> list[list[int]]:
    """Per character of `text` its tokens: one, or its bytes where it has none of its own."""
    return [
        [ids[character]] if character in ids else [tokenizer.token_to_id(_LETTERS[byte]) for byte in character.encode()]
        for character in text
    ]
