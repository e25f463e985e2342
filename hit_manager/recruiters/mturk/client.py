"""Calls to the MTurk API: boto3 in threads of its own, one try a request, errors in our words.

boto3 repeats requests by itself, money included, and shows nobody; that is switched off, and
`Patience` repeats instead what can be repeated. Its clients may be shared by threads, once made.
"""

from __future__ import annotations

import asyncio
import importlib
import logging
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from functools import cache
from typing import Any, Final, TypeVar, cast

from hit_manager.recruiters.backoff import Patience, Pause
from hit_manager.recruiters.base import RecruiterError, Refused, Unavailable, Unsure
from hit_manager.recruiters.mturk.config import REGION, MturkConfig
from hit_manager.recruiters.mturk.errors import NeedsPerson, from_answer, masked, no_request_id

log = logging.getLogger("duologue.mturk")

T = TypeVar("T")

CLOSE_WITHIN_S: Final = 2.0
"""How long closing waits for calls that are under way."""

PAGE: Final = 100
"""Rows that one list request asks for, the most there can be."""

# By name, as botocore is loaded late. All others, such as a TLS connection that breaks, can come
# after the request was sent.
_NOT_SENT: Final = ("EndpointConnectionError", "ConnectTimeoutError", "ProxyConnectionError")
_NOT_RIGHT: Final = ("ParamValidationError",)
_NOT_SET_UP: Final = ("UnknownServiceError", "EndpointProviderError")


class Client:
    """The API of one account. Safe to use from one event loop; the calls run in threads."""

    def __init__(self, config: MturkConfig, patience: Patience) -> None:
        self._config = config
        self._patience = patience
        self._slots = asyncio.Semaphore(config.threads)
        self._sent: set[asyncio.Future[dict[str, Any]]] = set()
        self._made: Any = None
        self._closed = False

    async def call(
        self, operation: str, *, changes: bool, repeats: bool = True, **params: Any
    ) -> dict[str, Any]:
        """Make one call, for example `call("get_hit", changes=False, HITId=…)`.

        `changes`: whether it changes anything over there, so that a lost answer leaves it open
        whether it has. `repeats`: whether it may be sent again then; what was surely not carried
        out is sent again in any case.

        A caller that is cancelled takes nothing back that has been sent.

        Raises:
            RecruiterError: as the tree in `base` says.
        """

        def again_after(error: RecruiterError) -> bool:
            if isinstance(error, Unsure):
                return repeats
            return isinstance(error, Unavailable) and not isinstance(error, NeedsPerson)

        return await self._patience.call(
            operation, lambda: self._once(operation, changes, params), again_after
        )

    async def rows(self, operation: str, name: str, **params: Any) -> AsyncIterator[dict[str, Any]]:
        """All rows of a list operation, page by page; `name` is the key they are under."""
        more: dict[str, Any] = {}
        while True:
            answer = await self.call(operation, changes=False, MaxResults=PAGE, **params, **more)
            for row in answer.get(name, ()):
                yield row
            token = answer.get("NextToken")
            if not token or more.get("NextToken") == token:
                return
            more = {"NextToken": token}

    async def close(self) -> None:
        """Wait a moment for what has been sent, and let go of the connections."""
        if self._closed:
            return
        self._closed = True
        if self._sent:
            await asyncio.wait(self._sent, timeout=CLOSE_WITHIN_S)
        if self._made is not None:
            self._made.close()

    async def _once(self, operation: str, changes: bool, params: dict[str, Any]) -> dict[str, Any]:
        async with self._slots:
            if self._closed:
                raise Unavailable("the connection to the marketplace has been closed", "Closed")
            sent = in_thread(lambda: self._send(operation, changes, params))
            self._sent.add(sent)
            sent.add_done_callback(self._sent.discard)
            # Whoever stops waiting stops nothing that was sent.
            return await asyncio.shield(sent)

    def _send(self, operation: str, changes: bool, params: dict[str, Any]) -> dict[str, Any]:
        """In a thread: one request, one answer."""
        exceptions = importlib.import_module("botocore.exceptions")
        parsers = importlib.import_module("botocore.parsers")
        try:
            answer: dict[str, Any] = getattr(self._client(), operation)(**params)
        except exceptions.ClientError as error:
            raise from_answer(operation, error.response, changes=changes) from error
        except (exceptions.BotoCoreError, parsers.ResponseParserError, OSError) as error:
            raise _from_fault(operation, error, changes=changes) from error
        if not answer.get("ResponseMetadata", {}).get("RequestId"):
            raise no_request_id(operation, changes=changes)
        return answer

    def _client(self) -> Any:
        """boto3's client, made at the first call: that costs half a second and reads files."""
        with _MAKING:
            if self._made is None:
                botocore_config = importlib.import_module("botocore.config")
                config = self._config
                self._made = _session().client(
                    "mturk",
                    region_name=REGION,
                    # Always given: otherwise the environment could name another one.
                    endpoint_url=config.url,
                    aws_access_key_id=config.access_key,
                    aws_secret_access_key=config.secret_key,
                    config=botocore_config.Config(
                        connect_timeout=config.connect_timeout_s,
                        read_timeout=config.read_timeout_s,
                        retries={"mode": "standard", "total_max_attempts": 1},
                        max_pool_connections=config.threads,
                    ),
                )
            return self._made


def in_thread(work: Callable[[], T]) -> asyncio.Future[T]:
    """What `work` gives, from a thread that the end of the process does not wait for.

    The threads of an executor are waited for, and a call to somebody who does not answer takes
    its whole time.
    """
    loop = asyncio.get_running_loop()
    given: asyncio.Future[T] = loop.create_future()

    def give(result: T | None, error: BaseException | None) -> None:
        if given.cancelled():
            return
        if error is None:
            given.set_result(cast("T", result))
        else:
            given.set_exception(error)
            # Nobody may be waiting any more.
            given.exception()

    def run() -> None:
        result: T | None = None
        failed: BaseException | None = None
        try:
            result = work()
        except BaseException as error:
            failed = error
        # A loop that has been closed has nobody who waits.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(give, result, failed)

    threading.Thread(target=run, name="mturk", daemon=True).start()
    return given


# A session is not safe for threads, its clients are. One is shared, as it reads the API's model
# from files once.
_MAKING: Final = threading.Lock()


@cache
def _session() -> Any:
    # Loaded here, so that only who recruits there pays for it.
    return importlib.import_module("boto3").session.Session()


def _from_fault(operation: str, error: Exception, *, changes: bool) -> RecruiterError:
    """The error when there is no answer, or none that can be read."""
    kind = type(error).__name__
    text = f"{operation}: {masked(str(error)[:500])} ({kind})"
    if kind in _NOT_SENT:
        return Unavailable(text, kind)
    if kind in _NOT_RIGHT:
        return Refused(text, kind)
    if kind in _NOT_SET_UP:
        return NeedsPerson(text, kind)
    return (Unsure if changes else Unavailable)(text, kind)


def show(pause: Pause) -> None:
    """A line in the log for a pause, without its reason: that may name a worker."""
    log.warning("%s: waiting %.1f s after try %d", pause.call, pause.seconds, pause.attempt)
