"""What the monitor says when an action is not carried out."""

from __future__ import annotations


class Refuse(Exception):
    """An action that is not carried out: an HTTP status, a code, and one sentence."""

    def __init__(self, status: int, code: str, error: str) -> None:
        super().__init__(error)
        self.status = status
        self.code = code
        self.error = error


def unknown(what: str) -> Refuse:
    return Refuse(404, "not_found", f"There is no such {what}.")


def conflict(error: str) -> Refuse:
    """Something else happened meanwhile."""
    return Refuse(409, "conflict", error)


def bad_request(error: str) -> Refuse:
    return Refuse(400, "bad_request", error)
