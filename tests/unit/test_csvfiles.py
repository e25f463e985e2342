"""What is written for a spreadsheet runs nothing there, and comes back as it was."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hit_manager.csvfiles import CsvError, read_csv, tame, untame, write_csv


@pytest.mark.parametrize(
    "text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "-", "\uff1d1", "'=1", "''-1"]
)
def test_a_cell_that_begins_like_a_formula_is_behind_an_apostrophe(text: str) -> None:
    assert tame(text) == f"'{text}"


@pytest.mark.parametrize("text", ["", "a dog", "1+1", "'tis", " =1", "ÄÖ", "5"])
def test_other_cells_stay(text: str) -> None:
    assert tame(text) == text


def test_numbers_stay_numbers() -> None:
    assert [tame(-5), tame(-0.5), tame(None), tame(True)] == ["-5", "-0.5", "", "True"]


# Half of all texts begin with what matters here.
_cells = st.builds(
    str.__add__,
    st.sampled_from(["", "=", "'", "'=", "''@", "-"]),
    st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=20),
)


@given(_cells)
@example("'=")
def test_taming_can_be_undone(text: str) -> None:
    assert untame(tame(text)) == text


@given(st.lists(st.tuples(_cells, _cells), max_size=5))
def test_what_is_written_is_read_back(rows: list[tuple[str, str]]) -> None:
    file = io.StringIO(newline="")
    assert write_csv([("code", "note"), *rows], file) == len(rows) + 1
    for row in csv.reader(io.StringIO(file.getvalue(), newline="")):
        assert not any(cell.startswith(("=", "+", "-", "@", "\t", "\r")) for cell in row)
    file.seek(0)
    read = [(row["code"], row["note"]) for _, row in read_csv(file, ["code"])]
    assert read == [row for row in rows if any(tame(cell).strip() for cell in row)]


def test_semicolons_tabs_and_a_byte_order_mark_are_understood() -> None:
    for separator in ";\t":
        file = io.StringIO(f"\ufeffid{separator}note\r\n7{separator}'=1\r\n\r\n8\r\n", newline="")
        rows = list(read_csv(file, ["id", "note"]))
        assert rows == [(2, {"id": "7", "note": "=1"}), (4, {"id": "8", "note": ""})]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "line 1: the column 'id' is missing"),
        ("note\n", "line 1: the column 'id' is missing"),
        ("id,id\n", "line 1: two columns have the same name"),
        ("id,note\n1,a\n2,b,c\n", "line 3: more cells than the heading has"),
        ('id\n"1"2\n', "line 2"),
        (f"id,{'n' * 131_073}\n1,2\n", "line 1: field larger"),
        (f"id\n{'1' * 131_073}\n", "line 2: field larger"),
    ],
)
def test_a_file_that_cannot_be_read_names_its_line(text: str, problem: str) -> None:
    with pytest.raises(CsvError, match=problem):
        list(read_csv(io.StringIO(text, newline=""), ["id"]))
