"""Where and with what Duologue runs: the environment variables `DUOLOGUE_*`.

Only the composition root reads the environment; here it is a mapping.
"""

from __future__ import annotations

import contextlib
import ipaddress
import os
import re
import secrets
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Literal
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
)

from duologue.problems import BadInput, nearest, problems_of

PREFIX: Final = "DUOLOGUE_"

SECRET_FILE: Final = "secret.key"
"""The file in the study's folder that keeps a secret key made at the first start."""

MIN_SECRET: Final = 32
"""Characters of a secret key, at least."""


class SettingsError(BadInput):
    """Everything wrong with the environment, one line a problem. No line holds a secret."""


# --- The kinds of values -------------------------------------------------------------------


def _scheme(*allowed: str) -> AfterValidator:
    def check(url: str) -> str:
        if url.partition("://")[0] not in allowed or "://" not in url:
            raise ValueError(f"must begin with {' or '.join(f'{each}://' for each in allowed)}")
        return url

    return AfterValidator(check)


def _guarded(url: str) -> str:
    """Who reaches Redis decides who talks with whom: beyond this machine it takes a password."""
    try:
        parts = urlsplit(url)
        far = parts.scheme != "unix" and not is_loopback(parts.hostname or "")
    except ValueError:
        raise ValueError("must be a URL such as redis://:PASSWORD@HOST:6379/0") from None
    if far and not parts.password:
        raise ValueError("must hold a password, since the host is not this machine")
    return url


def is_loopback(host: str) -> bool:
    """Whether a host name or address means this machine."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _public(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("must be an address such as https://study.example.org")
    if parts.query or parts.fragment or parts.username:
        raise ValueError("must be an address without query, fragment and user")
    return url.rstrip("/")


def _origin(text: str) -> str:
    if text != "'self'" and not re.fullmatch(r"https?://(\*\.)?[A-Za-z0-9.-]+(:\d{1,5})?", text):
        raise ValueError(f"must name origins such as https://workersandbox.mturk.com, not {text!r}")
    return text


def _words(value: Any) -> Any:
    return re.split(r"[\s,]+", value.strip()) if isinstance(value, str) else value


def _lower(value: Any) -> Any:
    return value.strip().lower() if isinstance(value, str) else value


class Settings(BaseModel):
    """The settings of a process. What may hold a secret is left out of the repr."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, hide_input_in_errors=True, use_attribute_docstrings=True
    )

    database_url: Annotated[str, _scheme("sqlite", "postgresql")] = Field(repr=False)
    """The database: sqlite:///FILE or postgresql://USER:PASSWORD@HOST/NAME. Without it, a SQLite
    file in the study's folder."""
    redis_url: Annotated[
        str | None, _scheme("redis", "rediss", "unix"), AfterValidator(_guarded)
    ] = Field(default=None, repr=False)
    """Redis or Valkey: redis://:PASSWORD@HOST:PORT/NUMBER. Without it, a server that starts and
    stops with Duologue and keeps its data in the study's folder."""
    secret_key: Annotated[str, Field(min_length=MIN_SECRET)] = Field(repr=False)
    """What the links and tokens of workers are signed with: at least 32 characters, the same for
    all processes. Without it, one is made at the first start and kept in the study's folder."""
    public_url: Annotated[str, AfterValidator(_public)] | None = None
    """The address under which workers reach the server, for links. Without it, that of host and
    port."""
    host: Annotated[str, Field(min_length=1)] = "127.0.0.1"
    """The address to listen on; 0.0.0.0 for all."""
    port: Annotated[int, Field(ge=0, le=65_535)] = 8000
    """The port to listen on; 0 for any that is free."""
    frame_ancestors: Annotated[
        tuple[Annotated[str, AfterValidator(_origin)], ...], BeforeValidator(_words)
    ] = ()
    """Further sites that may show the worker page in a frame, separated by spaces or commas. The
    site of the study's recruiter (Mechanical Turk, your marketplace) may without being named."""
    log_level: Annotated[Literal["debug", "info", "warning", "error"], BeforeValidator(_lower)] = (
        "info"
    )
    """How much is logged: debug, info, warning or error."""
    trusted_proxies: Annotated[int, Field(ge=0, le=10)] = 0
    """How many proxies stand in front of the server. That many entries, counted from the end, of
    X-Forwarded-For are believed."""
    log_format: Annotated[Literal["text", "json"], BeforeValidator(_lower)] = "text"
    """How it is logged: text for people, or json: one object a line, for programs."""
    metrics_token: Annotated[str | None, Field(min_length=16)] = Field(default=None, repr=False)
    """What Prometheus must bear to read /metrics: at least 16 characters. Without it, only programs
    on the server's own machine may, and not through a proxy."""
    mturk_access_key: str | None = Field(default=None, repr=False)
    """The access key for Mechanical Turk, or that of your marketplace (`duologue market key`)."""
    mturk_secret_key: str | None = Field(default=None, repr=False)
    """The secret key that belongs to it."""
    prolific_token: str | None = Field(default=None, repr=False)
    """The API token for Prolific."""
    prolific_hook_secret: str | None = Field(default=None, repr=False)
    """The secret of the workspace over there, by which hooks are known to be Prolific's. Without
    it, none is taken, and everything is asked after."""


def check_settings(environment: Mapping[str, str], folder: Path) -> Settings:
    """As `read_settings`, before there is to be any file: the stored secret key has a stand-in."""
    return _checked(environment, folder)[0]


def read_settings(environment: Mapping[str, str], folder: Path) -> Settings:
    """The settings in `environment`, with defaults in the study's `folder`.

    A variable set to nothing counts as not set. Without a secret key, the one in the folder is
    used; the first start makes it.

    Raises:
        SettingsError: a variable is unknown or its value is wrong, or others may read the
            secret key's file.
    """
    settings, values = _checked(environment, folder)
    if "secret_key" in values:
        return settings
    return Settings.model_validate(values | {"secret_key": _stored_secret(folder / SECRET_FILE)})


def _checked(environment: Mapping[str, str], folder: Path) -> tuple[Settings, dict[str, str]]:
    """The settings, perhaps with a stand-in for the secret key, and the values as given."""
    names = {PREFIX + name.upper(): name for name in Settings.model_fields}
    given = {key: value for key, value in environment.items() if key.startswith(PREFIX) and value}
    problems = [
        f"{key}: unknown setting; {nearest(key, list(names))}" for key in given if key not in names
    ]
    values = {names[key]: value for key, value in given.items() if key in names}
    values.setdefault("database_url", f"sqlite:///{folder.resolve() / 'duologue.sqlite'}")
    settings = None
    try:
        settings = Settings.model_validate({"secret_key": "x" * MIN_SECRET} | values)
    except ValidationError as error:
        problems.extend(_named(line) for line in problems_of(error, Settings, ""))
    if problems or settings is None:
        raise SettingsError(problems)
    return settings, values


def _named(problem: str) -> str:
    """`: port must be …` as `DUOLOGUE_PORT must be …`."""
    name, _, rest = problem.removeprefix(": ").partition(" ")
    base, bracket, index = name.partition("[")
    return f"{PREFIX}{base.upper()}{bracket}{index} {rest}"


def _stored_secret(file: Path) -> str:
    """The key in `file`, made now if there is none; of several processes, one makes it."""
    try:
        if not file.exists():
            _make_secret(file)
        readable_by = stat.S_IMODE(file.stat().st_mode) & 0o077
        secret = file.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not a key"
        raise SettingsError([f"{file}: cannot be used: {reason}"]) from None
    if readable_by:
        raise SettingsError([f"{file}: others may read it; run: chmod 600 {file}"])
    if len(secret) < MIN_SECRET:
        raise SettingsError(
            [f"{file}: holds fewer than {MIN_SECRET} characters; delete it to have a new one made"]
        )
    return secret


def _make_secret(file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    partial = file.with_name(f".{file.name}.{secrets.token_hex(8)}")
    descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="ascii") as out:
            out.write(secrets.token_urlsafe(48) + "\n")
            out.flush()
            os.fsync(out.fileno())
        # A link, unlike a rename, does not replace the key that another process made meanwhile.
        with contextlib.suppress(FileExistsError):
            os.link(partial, file)
    finally:
        partial.unlink(missing_ok=True)
