"""A message's text: one line of 1 to 500 characters of any script, refused with a reason."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialogs.limits import MAX_CHARACTERS, BadText, clean_text

EMPTY, LONG, PLAIN = "is empty", "is the most", "one line of plain text"


def refused(text: str) -> str:
    with pytest.raises(BadText) as bad:
        clean_text(text)
    return str(bad.value)


@pytest.mark.parametrize(
    "character",
    ["x", "ß", "é", "ب", "漢", "🐶", "\U0010fffd"],
)
def test_500_characters_of_any_plane_fit_and_501_do_not(character: str) -> None:
    assert clean_text(character * MAX_CHARACTERS) == character * 500
    words = refused(character * 501)
    assert LONG in words
    assert "501 characters" in words


def test_characters_are_code_points_not_bytes_or_units() -> None:
    family = "👩‍👩‍👧‍👦"
    assert len(family) == 7
    assert clean_text(family * 71) == family * 71
    assert LONG in refused(family * 72)
    assert clean_text("e\u0301" * 250) == "e\u0301" * 250
    assert LONG in refused("e\u0301" * 251)


def test_trimming_comes_before_counting() -> None:
    assert clean_text("  \n\t" + "x" * 500 + "\u3000 \r\n") == "x" * 500
    assert clean_text("\u00a0a b\u2003") == "a b"


def test_a_text_over_the_frame_limit_is_refused_with_its_size() -> None:
    assert "1100000 characters" in refused("x" * 1_100_000)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "\n\r\t",
        "\u200b\u200d\ufeff",
        "\u202e\u2066\u2069",
        "\u0301\u0302",
        "\u20dd",
        "\u3000\u00a0",
        "\u2028\u2029",
        "\ud800",
        "\x00",
        "\U000e0001\U000e0020",
        "\uffff",
        "\u3164",
        "\u115f\u1160\uffa0",
        "\u2800 \u2800",
    ],
    ids=ascii,
)
def test_nothing_to_see_is_an_empty_message(text: str) -> None:
    assert EMPTY in refused(text)


def test_what_is_blank_by_itself_may_stand_in_a_text() -> None:
    assert clean_text("a\u3164b") == "a\u3164b"


@pytest.mark.parametrize(
    "bad",
    [
        *map(chr, range(0x20)),
        *map(chr, range(0x7F, 0xA0)),
        "\u2028",
        "\u2029",
        *map(chr, (0xD800, 0xDBFF, 0xDC00, 0xDFFF)),
        "\ud83d\udc36",
    ],
    ids=ascii,
)
def test_controls_line_breaks_and_half_surrogates_inside_are_refused(bad: str) -> None:
    assert PLAIN in refused(f"a{bad}b")


@pytest.mark.parametrize(
    "text",
    [
        "שלום hello",
        "\u202eabc\u202c",
        "\u2067مرحبا\u2069 ok",
        "👩🏽‍🚀 👩‍👩‍👧‍👦 🏳️‍🌈 1️⃣",
        "क्षि",
        "e\u0301",
        "Zalgo h\u0300\u0301\u0302\u0303",
        "a\u200bb",
        "\ue000",
        "<b>&amp;</b> ' OR 1=1; --",
        "\\u0000 \\n %s %(x)s {} :j",
    ],
    ids=ascii,
)
def test_other_texts_are_kept_to_the_last_code_point(text: str) -> None:
    assert clean_text(text) == text


@given(st.text(st.characters(exclude_categories=[]), max_size=600))
def test_what_is_kept_can_be_stored_shown_and_split_into_lines(text: str) -> None:
    try:
        kept = clean_text(text)
    except BadText:
        assert refused(text).endswith(".")
        return
    assert kept == text.strip()
    assert 1 <= len(kept) <= MAX_CHARACTERS
    assert kept.splitlines() == [kept]
    assert kept.encode().decode() == kept
    assert not {unicodedata.category(c) for c in kept} & {"Cc", "Cs"}
    assert clean_text(kept) == kept


@given(st.text(st.characters(categories=["L", "N", "P", "S"]), min_size=1, max_size=500))
def test_letters_digits_and_signs_of_any_script_are_never_refused(text: str) -> None:
    assert clean_text(text) == text
