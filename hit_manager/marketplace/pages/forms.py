"""The form of a post, whoever made it.

aiohttp's own reading takes a text in whatever encoding the sender names, and Python has encodings
that take minutes, or give what is no text. A page's form is in UTF-8, and here it has to be.
"""

from __future__ import annotations

from typing import Final
from urllib.parse import parse_qsl

from aiohttp import BodyPartReader, hdrs, web
from aiohttp.http_exceptions import HttpProcessingError
from multidict import MultiDict, MultiDictProxy

MAX_FIELDS: Final = 1000

_ENCODED: Final = "application/x-www-form-urlencoded"
_IN_PARTS: Final = "multipart/form-data"
_UTF_8: Final = frozenset({"utf-8", "utf8", "us-ascii"})
_AS_IT_IS: Final = frozenset({"", "7bit", "8bit", "binary"})

Form = MultiDictProxy[str]


async def read_form(request: web.Request) -> Form:
    """The fields of a post, in their order; of a file, its name.

    Raises:
        HTTPBadRequest: it cannot be read.
        HTTPRequestEntityTooLarge: too long, or more than 1,000 fields.
    """
    try:
        if request.content_type == _IN_PARTS:
            return await _parts(request)
        text = (await request.read()).decode()
        if request.content_type != _ENCODED or not text:
            return MultiDictProxy(MultiDict())
        if (request.charset or "utf-8").lower() not in _UTF_8:
            raise web.HTTPBadRequest
        if text.count("&") >= MAX_FIELDS:
            raise _too_large()
        pairs = parse_qsl(text.rstrip(), keep_blank_values=True)
    except (ValueError, LookupError, HttpProcessingError, ConnectionError):
        # No text, parts that are none, or a sender who has gone.
        raise web.HTTPBadRequest from None
    return MultiDictProxy(MultiDict(pairs))


async def _parts(request: web.Request) -> Form:
    found: MultiDict[str] = MultiDict()
    reader = await request.multipart()
    while (part := await reader.next()) is not None:
        if not isinstance(part, BodyPartReader) or part.name is None:
            raise web.HTTPBadRequest
        if part.headers.get(hdrs.CONTENT_TRANSFER_ENCODING, "").lower() not in _AS_IT_IS:
            raise web.HTTPBadRequest
        if len(found) >= MAX_FIELDS:
            raise _too_large()
        raw = bytearray()
        while chunk := await part.read_chunk():
            if request.content.total_bytes > request.client_max_size:
                raise _too_large()
            if not part.filename:
                raw += chunk
        found.add(_text(part.name), _text(part.filename) if part.filename else raw.decode())
    return MultiDictProxy(found)


def _too_large() -> web.HTTPRequestEntityTooLarge:
    return web.HTTPRequestEntityTooLarge(0)


def _text(name: str) -> str:
    """A name out of a header, which may hold bytes that are no text."""
    return name.encode(errors="replace").decode()
