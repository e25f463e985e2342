"""The reference page of the monitor's interface, made from its guard, actions and models."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final, get_type_hints

from pydantic import BaseModel

from chatserver.monitor import wire
from chatserver.monitor.access import API, NEEDS
from chatserver.monitor.actions import ACTIONS
from chatserver.monitor.reviewing import Reviewing
from dialogs import rules
from duologue.reference.wire import sections

Model = type[BaseModel]

_HEAD: Final = """\
# The monitor's interface

What the team's page `/monitor` asks the server for and is sent. Scripts may use it as well: they
sign in as somebody of the team, and what they do is kept under that name. It goes with the page, so
it may change from one version to the next.

## Signing in

`POST /api/sign-in` with `SignIn` is answered by `Me` and a cookie, which every other request
carries. Each but `GET` also carries `Me.csrf`, in the header `X-CSRF-Token`. Bodies are JSON, with
`Content-Type: application/json`; `Nothing` is `{}`.

```
curl -c jar -H 'Content-Type: application/json' \\
  -d '{"name": "ada", "password": "…"}' http://127.0.0.1:8000/api/sign-in
curl -b jar http://127.0.0.1:8000/api/monitor/now
curl -b jar -H 'Content-Type: application/json' -H 'X-CSRF-Token: …' \\
  -d '{}' http://127.0.0.1:8000/api/monitor/study/pause
```

`GET /api/sign-in` says with `SignedIn` who is signed in, if anybody is.

`GET /monitor` and whatever is under it is the page, or leads to `/sign-in` whoever is not signed
in. A `viewer` may read; a `reviewer` may do what `reviewer` stands at as well, and an `owner` all.

Times are seconds since 1970-01-01 UTC by the server's clock, money is in cents of the study's
currency. A list comes in pages: ask for the next one with `after=` and what `next` says; `null` is
the end. A body with a `key` may be sent again with the same one, and is carried out once.

## Errors

Instead of any other answer comes `Denied`: a sentence and a code. Then nothing has happened.

| status | `code` | when |
|---|---|---|
| 400, 413, 415 | `bad_request` | body or address make no sense; the sentence names the field |
| 401 | `signed_out` | there is no session, or none any more |
| 401 | `wrong` | name and password do not belong together |
| 403 | `not_allowed` | it takes another role |
| 403 | `bad_csrf` | the token is missing or is another session's |
| 403 | `foreign` | a page of another site asks |
| 404 | `not_found` | there is no such address, dialog, person, item or payment |
| 409 | `conflict` | something else happened meanwhile, or it is not possible as things are |
| 429 | `slow_down` | too many tries to sign in; `retry_after_s` says how long to wait |
| 503 | `try_again` | the database does not answer, or is busy |

## Routes

All are under `/api/monitor`.

| route | from | body | answer |
|---|---|---|---|
"""

_SOCKET: Final = """
## The socket

[socket.io](https://socket.io/docs/v4/) (protocol version 5, WebSocket only, text frames only) in
the namespace `/monitor`. The handshake carries the cookie, and the `auth` payload is
`{"csrf": …}`. A refused connection carries `{"error", "code"}`; with `signed_out` one has to sign
in again.

| page → server | payload | acknowledged with |
|---|---|---|
| `watch` | `Watch` | `DialogOut` or `Denied`; its events follow, instead of any other dialog's |
| `unwatch` | `Nothing` | nothing |

| server → page | payload | when |
|---|---|---|
| `board` | `Board` | all live dialogs at first, then changes, twice a second at most |
| `now` | `Now` | every second; less often where it takes the database long |
| `chart` | `Chart` | the newest points, every five seconds |
| `entries` | `Happened` | at each event of the watched dialog, in order and without a gap |
| `typing` | `TypingSeen` | somebody in the watched dialog writes |
| `changed` | `Changed` | what a list shows is older than the record: ask for it again |
| `waits` | `Denied` | the database does not answer: what was sent grows old, until the next `now` |
| `stopped` | `Denied` | the session is over; the connection is closed |

"""

_READS: Final[Mapping[str, Model]] = MappingProxyType(
    {
        "/me": wire.Me,
        "/now": wire.Now,
        "/chart": wire.Chart,
        "/dialogs": wire.DialogRows,
        "/dialogs/{}": wire.DialogOut,
        "/workers": wire.WorkerRows,
        "/workers/{}": wire.WorkerOut,
        "/hits": wire.HitRows,
        "/chains": wire.ChainRows,
        "/ledger": wire.LedgerRows,
        "/requests": wire.RequestRows,
        "/flags": wire.Flags,
        "/review/stats": wire.ReviewStats,
        "/study": wire.StudyOut,
        "/audit": wire.AuditRows,
        "/told": wire.ToldRows,
    }
)
_REVIEWS: Final = MappingProxyType(
    {
        "/review/next": Reviewing.next,
        "/review/{}": Reviewing.judge,
        "/review/{}/skip": Reviewing.skip,
        "/review/undo": Reviewing.undo,
        "/review/bulk": Reviewing.bulk,
    }
)


def monitor_page() -> str:
    """`docs/reference/monitor-api.md`."""
    parts = (_HEAD, *_routes(), _SOCKET, "\n".join(_models()).rstrip(), "\n")
    return "".join(parts)


def _routes() -> Iterator[str]:
    for (method, path), role in NEEDS.items():
        takes, gives = _travels(path)
        shown = f"`{method} {path.replace('{}', '{id}')}{_query(path, gives)}`"
        answer = f"`{gives.__name__}`" if gives else "the picture"
        yield f"| {shown} | {role} | {f'`{takes.__name__}`' if takes else ''} | {answer} |\n"


def _travels(path: str) -> tuple[Model | None, Model | None]:
    """What a route takes in its body and what it answers; None of a picture."""
    if path in _READS:
        return None, _READS[path]
    if path.startswith("/sign-out"):
        return None, wire.Done
    if path in _REVIEWS:
        hints = get_type_hints(_REVIEWS[path])
        return hints.get("what"), hints["return"]
    for action in ACTIONS:
        if f"/{action.path}".replace("{id}", "{}") == path:
            return action.takes, get_type_hints(action.does)["return"]
    assert path == "/items/{}/picture", f"{API}{path} is not described"
    return None, None


def _query(path: str, gives: Model | None) -> str:
    """What this address may ask for, as the answer's model says it."""
    last = path.rpartition("/")[2]
    found = re.search(rf"/{last}(\?[^`\s]+)", (gives and gives.__doc__) or "")
    return found[1] if found else ""


def _models() -> Iterator[str]:
    yield from sections(wire)
    yield "## Words of the record\n\nIn the types above.\n\n| type | one of |\n|---|---|"
    for name, found in sorted(vars(wire).items()):
        if getattr(found, "__module__", "") != rules.__name__ or not issubclass(found, StrEnum):
            continue
        yield f"| `{name}` | {', '.join(f'`{each.value}`' for each in found)} |"
