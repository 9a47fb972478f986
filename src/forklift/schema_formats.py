"""The values of `format`: which decoding enforces, and the final check of those and of some more."""

from __future__ import annotations

import re
from datetime import date
from functools import cache
from typing import Any

_LEAP = "([0-9]{2}(0[48]|[2468][048]|[13579][26])|(0[48]|[2468][048]|[13579][26])00)"
DATE = (
    "(([0-9]{3}[1-9]|[0-9]{2}[1-9]0|[0-9][1-9]00|[1-9]000)-"
    "((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))"
    f"|{_LEAP}-02-29)"
)
TIME = r"([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]{1,9})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])"

# Ours rather than llguidance's, which take 31 February and the 61st second.
PATTERNS = {"date": DATE, "date-time": f"{DATE}T{TIME}", "time": TIME}

ENFORCED_FORMATS = frozenset({*PATTERNS, "duration", "email", "hostname", "ipv4", "ipv6", "uri", "uuid"})
CHECKED_FORMATS = frozenset({"idn-email", "json-pointer", "regex"})

_LABEL = "[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_CHECKS = {
    "date-time": rf"[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}[Tt]{TIME.replace('Z|', 'Z|z|')}",
    "time": TIME.replace("Z|", "Z|z|"),
    "duration": r"P([0-9]+W|(?=.)([0-9]+Y)?([0-9]+M)?([0-9]+D)?(T(?=.)([0-9]+H)?([0-9]+M)?([0-9]+S)?)?)",
    "hostname": rf"(?=.{{1,253}}$){_LABEL}(\.{_LABEL})*",
    "uri": r"[A-Za-z][A-Za-z0-9+.-]*:[^\s<>\"{}|\\^`]*",
    "json-pointer": "(/([^~/]|~[01])*)*",
}


@cache
def format_checker() -> Any:
    """A jsonschema FormatChecker that knows the same formats whatever optional packages are installed."""
    import jsonschema

    named = ENFORCED_FORMATS | CHECKED_FORMATS
    checker = jsonschema.FormatChecker(formats=named & jsonschema.FormatChecker.checkers.keys() - _CHECKS.keys())
    for name, pattern in _CHECKS.items():
        checker.checks(name)(_matcher(name, re.compile(pattern)))
    return checker


def _matcher(name: str, pattern: re.Pattern[str]) -> Any:
    def holds(value: object) -> bool:
        if not isinstance(value, str):
            return True
        if not pattern.fullmatch(value):
            return False
        return name != "date-time" or _exists(value[:10])

    return holds


def _exists(day: str) -> bool:
    try:
        date.fromisoformat(day)
    except ValueError:
        return False
    return True
