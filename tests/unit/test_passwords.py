"""Passwords of the team: what they cost, and which ones will not do."""

from __future__ import annotations

import argon2
import pytest

from chatserver.monitor import passwords
from chatserver.monitor.passwords import Passwords, hashed, new_password, problem_with


def test_a_hash_is_of_todays_parameters_and_salted() -> None:
    """RFC 9106, section 4, second recommended option, but for the lanes."""
    one, other = hashed("nine lemons"), hashed("nine lemons")
    assert one != other
    for each in (one, passwords._nobodys_hash()):
        found = argon2.extract_parameters(each)
        assert (found.type, found.version) == (argon2.Type.ID, 19)
        assert (found.memory_cost, found.time_cost, found.parallelism) == (65_536, 3, 1)
        assert (found.salt_len, found.hash_len) == (16, 32)


async def test_nobody_has_a_password() -> None:
    """The stand-in's hash is one that can be verified, and of no password."""
    keeper = Passwords()
    nobodys = keeper._nobodys
    assert not keeper._verify(nobodys, "")
    assert not await keeper.is_right("x", None)
    assert not await keeper.is_right("x", "what is no hash")
    # Not even by chance.
    keeper._nobodys = hashed("x")
    assert not await keeper.is_right("x", None)
    assert not await keeper.is_right("\ud800", hashed("nine lemons"))
    assert await keeper.is_right("nine lemons", hashed("nine lemons"))
    with pytest.raises(argon2.exceptions.VerifyMismatchError):
        argon2.PasswordHasher().verify(nobodys, "x")
    keeper.close()


async def test_only_what_has_other_parameters_is_hashed_anew() -> None:
    keeper = Passwords()
    good = hashed("nine lemons")
    assert await keeper.renewed("nine lemons", good) == good
    old = argon2.PasswordHasher(time_cost=1, memory_cost=8, parallelism=1).hash("nine lemons")
    new = await keeper.renewed("nine lemons", old)
    assert "$m=65536,t=3,p=1$" in new
    assert await keeper.is_right("nine lemons", new)
    keeper.close()


@pytest.mark.parametrize(
    ("password", "told"),
    [
        ("", "at least 12"),
        ("elevencharz", "at least 12"),
        ("x" * 1001, "at most 1000"),
        ("Ada.Lovelace", "must not be the name"),
        ("ada.lovelaceADA.lovelace", "must not be the name"),
        ("PasswordPassword", "everybody tries first"),
        ("123456789012", "everybody tries first"),
        ("aaaaaaaaaaaa", "everybody tries first"),
        ("abababababab", "everybody tries first"),
        ("nine lemons \udcff", "no text in UTF-8"),
    ],
)
def test_what_will_not_do_is_refused(password: str, told: str) -> None:
    assert told in (problem_with(password, "ada.lovelace") or "")


@pytest.mark.parametrize(
    "password", ["nine lemons!", "зимнее утро 1799", "ada.lovelace1", "x y z w v u t"]
)
def test_any_other_will_do(password: str) -> None:
    assert problem_with(password, "ada.lovelace") is None


def test_made_up_ones_will_do_and_differ() -> None:
    made = {new_password() for _ in range(100)}
    assert len(made) == 100
    assert all(problem_with(each, "ada") is None for each in made)
