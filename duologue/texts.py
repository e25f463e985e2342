"""The texts that a study begins with, until its team writes its own.

What stands in [SQUARE BRACKETS] is the team's to fill in.
"""

from __future__ import annotations

from typing import Final

CONSENT: Final = """\
This study is run by [NAME OF THE TEAM] at [INSTITUTION]. Its purpose is [PURPOSE].

You will be paired with another person and talk about a picture by writing, for about \
[MINUTES] minutes. What you write is stored together with the times of your messages. It may be \
published as a research data set, without your name, your worker id or anything else that \
identifies you. Please do not write anything that identifies you or somebody else.

Taking part is voluntary. You may leave at any time; the instructions say what leaving means for \
your pay. There are no risks beyond those of an ordinary conversation on the internet. If what you \
see or read troubles you, leave and tell us: every page has a link to report a problem.

You can ask for your texts to be erased, or ask anything else, by writing to [CONTACT]. \
[NAME OF THE ETHICS BOARD] has reviewed this study under number [NUMBER].

By going on you confirm that you are at least 18 years old, that you have read this, and that you \
agree to take part."""

EXAMPLE_CAPTION: Final = "a woman and a dog are on a jetty by a lake"

EXAMPLE_ROUNDS: Final = (
    ("how old does the woman look?", "about 30, maybe a little older"),
    ("is she standing?", "no, she sits at the end of the jetty with her feet in the water"),
    ("what is she wearing?", "a yellow dress and a straw hat"),
    ("and what kind of dog is it?", "a large brown one with long ears, i can't tell the breed"),
    ("is the dog close to her?", "yes, it lies right beside her and looks at the water"),
    ("can you see any boats?", "one small red rowing boat, tied to the jetty"),
    ("what is the weather like?", "sunny, with a few white clouds"),
    ("is there anybody else?", "no, just the two of them"),
    ("what is on the other side of the lake?", "a dark forest and two grey mountains behind it"),
    ("does it look like summer?", "yes, i think so, the trees are all green"),
)
