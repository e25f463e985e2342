"""Dialogs to talk from when no VisDial file is given. Each has a caption and ten rounds."""

from __future__ import annotations

from typing import Final

DIALOGS: Final[tuple[tuple[str, tuple[tuple[str, str], ...]], ...]] = (
    (
        "a red house beside a tall tree under a blue sky",
        (
            ("is it day or night", "it is day"),
            ("is the sun shining", "yes, it is in the upper left corner"),
            ("how many windows does the house have", "2"),
            ("what color is the roof", "dark grey"),
            ("is there a door", "yes, a brown one in the middle"),
            ("is the tree taller than the house", "yes, quite a bit"),
            ("are there any people", "no people"),
            ("are there any clouds", "just one small cloud"),
            ("can you see a street", "no, only grass"),
            ("is there a fence", "no i don't see one"),
        ),
    ),
    (
        "two boats on a lake in front of a mountain",
        (
            ("what color are the boats", "one is white and the other is red"),
            ("do they have sails", "the white one does"),
            ("is anyone in the boats", "not that i can see"),
            ("is the water calm", "yes, very calm"),
            ("is there snow on the mountain", "yes, at the top"),
            ("are there trees", "a few along the shore"),
            ("what does the sky look like", "clear and blue"),
            ("is it a photo or a drawing", "it looks like a drawing"),
            ("are the boats close together", "no, they are far apart"),
            ("do you see any birds", "yes, 3 of them"),
        ),
    ),
    (
        "a cat sits on a chair next to a table with a lamp",
        (
            ("what color is the cat", "it is black"),
            ("is the cat awake", "yes, it is looking at me"),
            ("what is the chair made of", "it looks like wood"),
            ("is the lamp on", "yes it is on"),
            ("what else is on the table", "a cup and a book"),
            ("what color is the wall", "light yellow"),
            ("is there a window", "yes, behind the table"),
            ("is there a carpet", "i can't tell"),
            ("are there any people", "no, just the cat"),
            ("does the cat have a collar", "no collar"),
        ),
    ),
    (
        "a street with three cars and a traffic light",
        (
            ("what color is the traffic light", "it is green"),
            ("are the cars moving", "i think so"),
            ("what colors are the cars", "blue, yellow and white"),
            ("is there anyone on the sidewalk", "1 person with an umbrella"),
            ("is it raining", "it looks like it"),
            ("are there tall buildings", "yes, on both sides"),
            ("do you see any signs", "there is a stop sign"),
            ("is it a busy street", "not really"),
            ("are there any bikes", "no bikes"),
            ("is the picture in color", "yes"),
        ),
    ),
    (
        "a bowl of fruit on a checkered cloth",
        (
            ("what kinds of fruit are there", "apples, a banana and some grapes"),
            ("how many apples are there", "4"),
            ("are the apples red", "3 are red and 1 is green"),
            ("what color are the grapes", "purple"),
            ("is the bowl made of glass", "no, it seems to be wood"),
            ("what color is the cloth", "red and white"),
            ("is there a knife", "no"),
            ("can you see the table", "only the edge of it"),
            ("is anything else on the table", "a glass of water"),
            ("is it a close up", "yes it is"),
        ),
    ),
    (
        "a child flies a kite on a beach",
        (
            ("is it a boy or a girl", "a girl i think"),
            ("how old does she look", "maybe 7"),
            ("what is she wearing", "a yellow dress and a hat"),
            ("what color is the kite", "green with a long tail"),
            ("is it sunny", "yes, there are no clouds"),
            ("can you see the water", "yes, there are small waves"),
            ("are there other people", "2 people far away"),
            ("is there a sand castle", "yes, near her feet"),
            ("is there a dog", "no animals"),
            ("does she look happy", "yes, she is smiling"),
        ),
    ),
)
