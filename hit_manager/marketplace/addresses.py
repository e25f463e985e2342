"""Addresses that others give: where they lead, and whether this server may call them.

Two programs that read one address differently are how a check is got past: urllib takes
`https://①②⑦.0.0.1/` for a name, aiohttp for 127.0.0.1, and a browser takes `https://a\\@b/` for
the host a. So an address counts only if it is written so plainly that all of them agree.

Sources: the WHATWG's URL standard ("host parsing"); IANA's registries of special-purpose
addresses of IPv4 and IPv6; RFC 3056 (6to4), 4291 (IPv6), 6052 and 8215 (NAT64).
"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import SplitResult, urlsplit

from yarl import URL

PORTS: Final = {"http": 80, "https": 443}

_PLAIN: Final = re.compile(r"[!-\[\]-~]+")
"""No space, no control character, no backslash, nothing but ASCII."""

_NETLOC: Final = re.compile(r"([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::([0-9]{0,5}))?")
_LIKE_A_NUMBER: Final = re.compile(r"[0-9]+|0x[0-9a-f]*", re.IGNORECASE)

_NOT_PUBLIC: Final = tuple(
    ipaddress.ip_network(each)
    for each in (
        # What `is_global` lets through: protocol assignments, 6to4's relays, multicast, the rest.
        "192.0.0.0/24",
        "192.88.99.0/24",
        "224.0.0.0/3",
        # Protocol assignments with Teredo, examples, 6to4; the last two lead into IPv4.
        "2001::/23",
        "2001:db8::/32",
        "2002::/16",
        "3fff::/20",
    )
)
_UNICAST: Final = ipaddress.ip_network("2000::/3")
"""All that is given out of IPv6; outside of it are also the forms that hold an IPv4 address."""


@dataclass(frozen=True, slots=True)
class Place:
    """Scheme, host and port of an address, as a browser compares them: small letters, and the
    port said even where it is the usual one."""

    scheme: str
    host: str
    port: int


def place_of(address: str) -> Place | None:
    """Where an address of the web leads; None if it is none, or not plainly written.

    A name and a password before the host lead nowhere else, and are no part of it.
    """
    if not _PLAIN.fullmatch(address):
        return None
    try:
        parts = urlsplit(address)
    except ValueError:
        return None
    return _place(parts.scheme, parts)


def place_of_host(scheme: str, host: str) -> Place | None:
    """Where the Host header of a request by this scheme leads."""
    return place_of(f"{scheme}://{host}/") if scheme in PORTS else None


def is_callable(address: str) -> bool:
    """Whether this server may call an address, as far as it tells; what a name resolves to is
    looked at when it is called."""
    place = place_of(address)
    if place is None or not is_public(place.host):
        return False
    try:
        # What is called in the end.
        return URL(address).raw_host == place.host
    except ValueError:
        return False


def is_public(host: str) -> bool:
    """Whether a host is on the public network: a name that is not this machine's, or a number
    that is given out to somebody and can be reached from everywhere."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        name = host.rstrip(".").lower()
        return bool(name) and name != "localhost" and not name.endswith(".localhost")
    if isinstance(address, ipaddress.IPv6Address) and (
        address.scope_id is not None or address not in _UNICAST
    ):
        return False
    return address.is_global and not any(address in network for network in _NOT_PUBLIC)


def _place(scheme: str, parts: SplitResult) -> Place | None:
    found = _NETLOC.fullmatch(parts.netloc.rpartition("@")[2])
    if found is None or scheme not in PORTS:
        return None
    host = found[1].strip("[]").lower()
    port = int(found[2] or PORTS[scheme])
    try:
        host = str(ipaddress.ip_address(host))
    except ValueError:
        # `127.1`, `0x7f000001` and `2130706433` are numbers for a browser and for the system.
        if ":" in host or _LIKE_A_NUMBER.fullmatch(host.rstrip(".").rpartition(".")[2]):
            return None
    return Place(scheme, host, port) if port < 65_536 else None
