"""CSV files that people open in a spreadsheet program.

Such a program runs a cell that begins like a formula, and what workers write gets into cells.
Source: OWASP, "CSV Injection".
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, TextIO

FORMULA_STARTS: Final = ("=", "+", "-", "@", "\t", "\r")
# Some programs take the full-width forms for the same.
_STARTS: Final = (*FORMULA_STARTS, "\uff1d", "\uff0b", "\uff0d", "\uff20")


def tame(cell: object) -> str:
    """A cell as text that no program runs: behind an apostrophe, if it begins like a formula.

    So does a text that begins with an apostrophe before such a sign, so that `untame` gives back
    every text as it was. Numbers stay as they are, negative ones too.
    """
    if isinstance(cell, (int, float)):
        return str(cell)
    text = "" if cell is None else str(cell)
    return f"'{text}" if text.lstrip("'").startswith(_STARTS) else text


def untame(text: str) -> str:
    """The cell that `tame` was given, or a program has kept."""
    return text[1:] if text.startswith("'") and text.lstrip("'").startswith(_STARTS) else text


def write_csv(rows: Iterable[Sequence[object]], file: TextIO) -> int:
    """Write rows, the heading first, every cell tamed; how many rows were written.

    Open the file with `newline=""`.
    """
    # The same line ends everywhere, and those that spreadsheets write themselves.
    writer = csv.writer(file, lineterminator="\r\n")
    number = 0
    for row in rows:
        writer.writerow([tame(cell) for cell in row])
        number += 1
    return number


class CsvError(Exception):
    """A CSV file that cannot be read; the text begins with the line, as in `line 2: …`."""


def read_csv(file: TextIO, required: Sequence[str]) -> Iterator[tuple[int, Mapping[str, str]]]:
    """The rows of a file with a heading, with the number of the line each ends on, cells untamed.

    Semicolons and tabs between cells are understood too: spreadsheets write them where the comma
    is the decimal sign. Empty rows are passed over.

    Raises:
        CsvError: it is no CSV, a required column is missing, or a row has cells without heading.
    """
    head = file.readline().removeprefix("\ufeff")
    # The heading is ours, so that its most frequent separator is the file's.
    separator = max(",;\t", key=head.count)
    try:
        heading = next(csv.reader([head], delimiter=separator), [])
    except csv.Error as error:
        raise CsvError(f"line 1: {error}") from None
    names = [untame(name.strip()) for name in heading]
    missing = [name for name in required if name not in names]
    if missing:
        raise CsvError(f"line 1: the column {missing[0]!r} is missing")
    if len(set(names)) < len(names):
        raise CsvError("line 1: two columns have the same name")
    reader = csv.reader(file, delimiter=separator, strict=True)
    while True:
        try:
            row = next(reader, None)
        except csv.Error as error:
            raise CsvError(f"line {reader.line_num + 1}: {error}") from None
        if row is None:
            return
        if not any(cell.strip() for cell in row):
            continue
        if len(row) > len(names):
            raise CsvError(f"line {reader.line_num + 1}: more cells than the heading has")
        cells = [untame(cell) for cell in row] + [""] * (len(names) - len(row))
        yield reader.line_num + 1, dict(zip(names, cells, strict=True))
