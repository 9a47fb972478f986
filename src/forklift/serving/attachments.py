"""Files that come inside a request, or from a host that the server allows: never written to disk."""

from __future__ import annotations

import base64
import binascii
import re
import urllib.error
import urllib.request
from collections.abc import Collection
from typing import Any
from urllib.parse import unquote_to_bytes, urlsplit

from forklift.page_policy import Limits
from forklift.serving.failures import ApiError

_DATA_URL = re.compile(r"data:(?P<kind>[^,;]*)(?P<options>(?:;[^,;]*)*),", re.IGNORECASE)
_FETCH_SECONDS = 20


def content_of(url: str, *, param: str, limits: Limits, allowed_hosts: Collection[str] = ()) -> bytes:
    """The file in a data URL or in plain base64, or behind a link to one of `allowed_hosts`.

    param: what an error calls it. Raises ApiError.
    """
    match = _DATA_URL.match(url[:1024])
    if match is not None:
        if "base64" in match["options"].lower().split(";"):
            return _decoded(url[match.end() :], param)
        return unquote_to_bytes(url[match.end() :])
    if re.match(r"[a-z][a-z0-9+.-]*:", url[:32], re.IGNORECASE):
        return _fetched(url, param, limits, allowed_hosts)
    return _decoded(url, param)


def _decoded(text: str, param: str) -> bytes:
    try:
        return base64.b64decode(re.sub(r"\s+", "", text), validate=True)
    except (binascii.Error, ValueError) as error:
        raise ApiError(
            400,
            f"{param}: is no base64 ({error}); give a data URL such as data:image/png;base64,...",
            param=param,
            code="invalid_base64",
        ) from None


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """An allowed host must not lead to another one."""

    def redirect_request(self, *_: Any) -> None:
        return None


def _fetched(url: str, param: str, limits: Limits, allowed_hosts: Collection[str]) -> bytes:
    try:
        parts = urlsplit(url)
        host = (parts.hostname or "").lower()
    except ValueError:
        raise ApiError(400, f"{param}: is no URL", param=param, code="invalid_url") from None
    if parts.scheme.lower() not in ("http", "https") or host not in allowed_hosts:
        allowed = f"from {', '.join(sorted(allowed_hosts))} only" if allowed_hosts else "from nowhere"
        raise ApiError(
            400,
            f"{param}: this server fetches files {allowed}; send the file itself as a data URL, "
            "or start the server with --allow-url HOST",
            param=param,
            code="url_not_allowed",
        )
    opener = urllib.request.build_opener(_NoRedirect)
    try:
        with opener.open(url, timeout=_FETCH_SECONDS) as answer:
            content: bytes = answer.read(limits.max_file_bytes + 1)
    except urllib.error.HTTPError as error:
        raise ApiError(400, f"{param}: {host} answered {error.code}", param=param, code="fetch_failed") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "reason", error)
        raise ApiError(400, f"{param}: {host} cannot be read: {reason}", param=param, code="fetch_failed") from None
    return content
