"""Links: who comes by them, and invitations that cannot be guessed."""

from __future__ import annotations

import io
import re
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from duologue.study import read_invitations
from hit_manager.csvfiles import read_csv, write_csv
from hit_manager.recruiters.base import Arriving, Refused, Unsupported
from hit_manager.recruiters.link import (
    Link,
    add_invitations,
    invitation_link,
    invitation_rows,
    make_invitations,
)


def test_on_an_open_link_a_person_is_the_id_their_page_keeps() -> None:
    link = Link()
    assert link.arriving({"worker_key": "k" * 16}) == Arriving(f"key:{'k' * 16}", "")
    for query in ({}, {"worker_key": "short"}, {"worker_key": "k" * 65}, {"invite": "x" * 20}):
        assert link.arriving(query) is None


def test_with_invitations_a_person_is_their_code() -> None:
    (code,) = make_invitations(1)
    link = Link([code])
    assert link.arriving({"invite": code}) == Arriving(f"invite:{code}", "")
    for query in ({}, {"invite": ""}, {"invite": "A" * 14}, {"worker_key": "k" * 16}):
        assert link.arriving(query) is None
    # No code at all lets nobody in; it does not open the link to all.
    assert Link([]).arriving({"worker_key": "k" * 16}) is None


async def test_it_pays_nobody_and_posts_nothing() -> None:
    link = Link()
    for call in (link.hit("h"), link.approve("a"), link.block("w", "because")):
        with pytest.raises(Unsupported, match="link"):
            await call
    assert link.commission(100) == 0


def test_codes_are_all_different_and_easy_to_read() -> None:
    codes = make_invitations(2000)
    assert len(set(codes)) == 2000
    shape = r"[2-9A-HJ-NP-Z]{4}-[2-9A-HJ-NP-Z]{4}-[2-9A-HJ-NP-Z]{4}"
    assert all(re.fullmatch(shape, code) for code in codes)
    # Each place takes each of the 32 characters: a generator stuck somewhere would not.
    for place in (0, 5, 13):
        assert len({code[place] for code in codes}) == 32


@pytest.mark.parametrize("number", [0, -1, 100_001])
def test_a_number_that_is_no_order_is_refused(number: int) -> None:
    with pytest.raises(Refused, match="invitations"):
        make_invitations(number)


def test_an_invitation_is_a_link_of_the_study() -> None:
    link = invitation_link("https://duologue.example/work?lang=de", "A b&c")
    assert parse_qs(urlsplit(link).query) == {"lang": ["de"], "invite": ["A b&c"]}
    file = io.StringIO(newline="")
    codes = make_invitations(3)
    write_csv(invitation_rows(codes, "https://duologue.example/work"), file)
    file.seek(0)
    rows = [row for _, row in read_csv(file, ["code", "link"])]
    assert [row["code"] for row in rows] == codes
    assert all(row["link"].endswith(f"?invite={row['code']}") for row in rows)


def test_codes_are_added_to_the_file_that_the_study_reads(tmp_path: Path) -> None:
    file = tmp_path / "invitations.txt"
    first, second = make_invitations(2), make_invitations(3)
    add_invitations(file, first)
    # As an editor may leave it.
    file.write_text(file.read_text().rstrip("\n"))
    add_invitations(file, second)
    assert read_invitations(file) == {*first, *second}
