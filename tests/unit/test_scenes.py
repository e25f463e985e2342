"""The scenes of the demonstration: any number, the same for the same seed, ready to be served."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import ImageStat

from dialogs.images import prepare
from dialogs.items import read_items
from duologue.scenes import SCENES, draw, write_scenes


@pytest.fixture(scope="module")
def dozen(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_scenes(tmp_path_factory.mktemp("scenes"))


def test_a_dozen_scenes_are_items_of_a_study(dozen: Path, tmp_path: Path) -> None:
    items = read_items(dozen)
    assert [item.image_id for item in items] == [str(number) for number in range(1, 13)]
    assert len({item.caption for item in items}) == 12
    for item in items:
        assert 20 < len(item.caption) < 90
        assert item.caption == item.caption.lower().strip()
        for article, vowel in ((" a ", True), (" an ", False)):
            for after in f" {item.caption}".split(article)[1:]:
                assert (after[0] in "aeiou") is not vowel, item.caption
    prepared = [prepare(item.path, tmp_path, blurred=True) for item in items]
    assert {(p.width, p.height) for p in prepared} == {(800, 600)}
    assert len({p.sha256 for p in prepared}) == 12


@pytest.mark.parametrize("number", range(1, 13))
def test_every_scene_is_a_picture_with_much_in_it(number: int) -> None:
    image, _ = draw(number)
    assert image.size == (800, 600)
    colours = image.quantize(64).convert("RGB").getcolors()
    assert colours is not None
    assert len(colours) > 40
    assert max(ImageStat.Stat(image).stddev) > 25
    # Drawn to the edges: no white paper shows.
    for corner in ((0, 0), (799, 0), (0, 599), (799, 599)):
        assert image.getpixel(corner) != (255, 255, 255)


def test_the_same_seed_gives_the_same_files(tmp_path: Path) -> None:
    one = write_scenes(tmp_path / "one", count=3, seed=5)
    two = write_scenes(tmp_path / "two", count=3, seed=5)
    for name in ("items.jsonl", "scene-01.png", "scene-02.png", "scene-03.png"):
        assert (one.parent / name).read_bytes() == (two.parent / name).read_bytes()


def test_more_scenes_than_kinds_all_differ() -> None:
    kinds = len(SCENES)
    assert len(set(SCENES)) == kinds
    for number in (1, 4, 8):
        pictures = {draw(number + kinds * k)[0].tobytes() for k in range(2)}
        assert len(pictures) == 2
    assert draw(1, seed=1)[0].tobytes() != draw(1, seed=2)[0].tobytes()


@pytest.mark.parametrize("kind", range(1, 13))
def test_no_chance_breaks_a_scene(kind: int) -> None:
    """Every branch of a scene is drawn for some seed."""
    captions = {draw(kind, seed)[1] for seed in range(1, 4)}
    assert all(captions)
