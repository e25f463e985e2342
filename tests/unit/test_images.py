"""Images as workers get them: upright, bounded, and nothing but pixels."""

from __future__ import annotations

import io
import struct
from pathlib import Path

import pytest
from PIL import Image, ImageCms, ImageStat, PngImagePlugin

from dialogs import images
from dialogs.images import MAX_SIDE, ImageError, check_image, prepare

RED, GREEN, BLUE, WHITE = (255, 0, 0), (0, 128, 0), (0, 0, 255), (255, 255, 255)
EXIF_ORIENTATION, EXIF_DESCRIPTION, EXIF_GPS = 0x0112, 0x010E, 0x8825


def halves(left: tuple[int, int, int], right: tuple[int, int, int]) -> Image.Image:
    image = Image.new("RGB", (200, 100), left)
    image.paste(right, (100, 0, 200, 100))
    return image


def served(path: Path, out: Path) -> Image.Image:
    with Image.open(out / prepare(path, out, blurred=False).file) as image:
        image.load()
        return image


def near(pixel: object, colour: tuple[int, int, int], by: int = 12) -> bool:
    assert isinstance(pixel, tuple)
    return all(abs(a - b) <= by for a, b in zip(pixel, colour, strict=True))


def segments(data: bytes) -> set[int]:
    """The markers before the pixels of a JPEG, read by its own grammar (ITU T.81, annex B)."""
    assert data[:2] == b"\xff\xd8"
    found, at = set(), 2
    while data[at + 1] != 0xDA:
        assert data[at] == 0xFF
        found.add(data[at + 1])
        at += 2 + struct.unpack(">H", data[at + 2 : at + 4])[0]
    return found


def test_nothing_but_pixels_is_left(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[EXIF_DESCRIPTION] = "SECRET-DESCRIPTION"
    exif.get_ifd(EXIF_GPS)[1] = "N"
    source = tmp_path / "camera.jpg"
    halves(RED, GREEN).save(
        source,
        exif=exif,
        comment=b"SECRET-COMMENT",
        xmp=b"<x>SECRET-XMP</x>",
        icc_profile=ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes(),
    )
    assert {0xE1, 0xE2, 0xFE} <= segments(source.read_bytes()), "the source must hold metadata"
    prepared = prepare(source, tmp_path / "out", blurred=True)
    assert prepared.blurred_file
    for name in (prepared.file, prepared.blurred_file):
        data = (tmp_path / "out" / name).read_bytes()
        assert b"SECRET" not in data
        # JFIF header, tables and frame; no APP1 (EXIF, XMP), APP2 (ICC), COM or other APPn.
        assert segments(data) <= {0xE0, 0xDB, 0xC0, 0xC4}


@pytest.mark.parametrize("name", ["text.png", "still.webp", "moving.gif"])
def test_metadata_of_other_formats_is_left_behind(tmp_path: Path, name: str) -> None:
    source, out = tmp_path / name, tmp_path / "out"
    text = PngImagePlugin.PngInfo()
    text.add_text("Comment", "SECRET")
    exif = Image.Exif()
    exif[EXIF_DESCRIPTION] = "SECRET"
    extra = {"comment": b"SECRET"} if name.endswith("gif") else {"exif": exif, "pnginfo": text}
    halves(RED, GREEN).save(source, **extra)
    assert b"SECRET" in source.read_bytes()
    assert b"SECRET" not in (out / prepare(source, out, blurred=False).file).read_bytes()


@pytest.mark.parametrize("orientation", range(1, 9))
def test_a_turned_photograph_is_served_upright(tmp_path: Path, orientation: int) -> None:
    upright = Image.new("RGB", (80, 40), BLUE)
    upright.paste(RED, (0, 0, 40, 20))
    undo = {
        2: Image.Transpose.FLIP_LEFT_RIGHT,
        3: Image.Transpose.ROTATE_180,
        4: Image.Transpose.FLIP_TOP_BOTTOM,
        5: Image.Transpose.TRANSPOSE,
        6: Image.Transpose.ROTATE_90,
        7: Image.Transpose.TRANSVERSE,
        8: Image.Transpose.ROTATE_270,
    }
    stored = upright.transpose(undo[orientation]) if orientation in undo else upright
    exif = Image.Exif()
    exif[EXIF_ORIENTATION] = orientation
    stored.save(tmp_path / "turned.png", exif=exif)
    image = served(tmp_path / "turned.png", tmp_path / "out")
    assert image.size == (80, 40)
    assert near(image.getpixel((10, 5)), RED, 30)
    assert near(image.getpixel((70, 5)), BLUE, 30)
    assert near(image.getpixel((10, 35)), BLUE, 30)


def test_colours_are_converted_to_srgb(tmp_path: Path) -> None:
    # A profile whose primaries are swapped: what it calls red is green in sRGB.
    swapped = bytearray(ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes())
    red, green = (swapped.index(tag, 128) for tag in (b"rXYZ", b"gXYZ"))
    swapped[red : red + 4], swapped[green : green + 4] = b"gXYZ", b"rXYZ"
    halves(RED, BLUE).save(tmp_path / "wide.png", icc_profile=bytes(swapped))
    image = served(tmp_path / "wide.png", tmp_path / "out")
    assert near(image.getpixel((20, 50)), (0, 255, 0))
    halves(RED, BLUE).save(tmp_path / "damaged.png", icc_profile=b"no profile at all")
    image = served(tmp_path / "damaged.png", tmp_path / "out")
    assert near(image.getpixel((20, 50)), RED)


def test_every_kind_of_pixel_keeps_its_look(tmp_path: Path) -> None:
    picture, out = halves(RED, WHITE), tmp_path / "out"
    picture.convert("CMYK").save(tmp_path / "cmyk.jpg", quality=95)
    picture.convert("P").save(tmp_path / "palette.png")
    picture.save(tmp_path / "lossy.webp")
    picture.save(tmp_path / "bitmap.bmp")
    picture.convert("RGB").save(tmp_path / "print.tiff")
    for name in ("cmyk.jpg", "palette.png", "lossy.webp", "bitmap.bmp", "print.tiff"):
        image = served(tmp_path / name, out)
        assert (image.format, image.mode) == ("JPEG", "RGB"), name
        assert near(image.getpixel((20, 50)), RED, 30), name
        assert near(image.getpixel((180, 50)), WHITE, 30), name


@pytest.mark.parametrize("mode", ["L", "1", "I;16", "LA"])
def test_grey_images_keep_black_white_and_middle(tmp_path: Path, mode: str) -> None:
    top = 65_535 if mode == "I;16" else 255
    middle = top if mode == "1" else top // 2
    image = Image.new(mode, (90, 30))
    for x in range(90):
        value = (0, middle, top)[x // 30]
        for y in range(30):
            image.putpixel((x, y), (value, 255) if mode == "LA" else value)
    image.save(tmp_path / "grey.png")
    out = served(tmp_path / "grey.png", tmp_path / "out")
    for x, value in ((15, 0), (45, middle * 255 // top), (75, 255)):
        assert near(out.getpixel((x, 15)), (value, value, value), 4)


def test_transparent_parts_are_white(tmp_path: Path) -> None:
    image = Image.new("RGBA", (60, 30), (0, 0, 0, 0))
    image.paste((*RED, 255), (0, 0, 30, 30))
    image.save(tmp_path / "clear.png")
    palette = image.convert("P")
    palette.save(tmp_path / "clear.gif", transparency=palette.getpixel((45, 15)))
    for name in ("clear.png", "clear.gif"):
        out = served(tmp_path / name, tmp_path / "out")
        assert near(out.getpixel((45, 15)), WHITE, 20), name
        assert near(out.getpixel((10, 15)), RED, 20), name


def test_the_first_frame_of_an_animation(tmp_path: Path) -> None:
    first, second = halves(RED, RED), halves(BLUE, BLUE)
    first.save(tmp_path / "moving.gif", save_all=True, append_images=[second])
    assert near(served(tmp_path / "moving.gif", tmp_path / "out").getpixel((10, 10)), RED)


@pytest.mark.parametrize(
    ("size", "becomes"),
    [
        ((3200, 1200), (1600, 600)),
        ((1000, 4000), (400, 1600)),
        ((1600, 1600), (1600, 1600)),
        ((300, 200), (300, 200)),
        ((20_000, 2), (1600, 1)),
    ],
)
def test_the_long_side_is_bounded(
    tmp_path: Path, size: tuple[int, int], becomes: tuple[int, int]
) -> None:
    Image.new("RGB", size, GREEN).save(tmp_path / "large.png")
    prepared = prepare(tmp_path / "large.png", tmp_path / "out", blurred=True)
    assert (prepared.width, prepared.height) == becomes
    assert max(becomes) <= MAX_SIDE
    assert prepared.blurred_file
    for name in (prepared.file, prepared.blurred_file):
        with Image.open(tmp_path / "out" / name) as image:
            assert image.size == becomes


def test_the_blurred_variant_keeps_colours_and_loses_detail(tmp_path: Path) -> None:
    board = Image.new("RGB", (640, 480), WHITE)
    for x in range(0, 640, 20):
        for y in range(0, 480, 20):
            if (x + y) % 40 == 0:
                board.paste((0, 0, 0), (x, y, x + 20, y + 20))
    board.paste(BLUE, (0, 0, 320, 480))
    board.save(tmp_path / "board.png")
    prepared = prepare(tmp_path / "board.png", tmp_path / "out", blurred=True)
    assert prepared.blurred_file
    with Image.open(tmp_path / "out" / prepared.blurred_file) as blurred:
        blurred.load()
    assert near(blurred.getpixel((60, 240)), BLUE)
    # The chequered half is one even grey: where the fields were cannot be told any more.
    spread = ImageStat.Stat(blurred.crop((440, 60, 600, 420)).convert("L")).stddev[0]
    assert spread < 8
    # No more is in it than in a field of so few colours: blowing that up gives it back.
    few = blurred.resize((28, 21), Image.Resampling.BOX).resize(blurred.size)
    pairs = zip(few.tobytes(), blurred.tobytes(), strict=True)
    assert sum(abs(a - b) for a, b in pairs) / (640 * 480 * 3) < 3


def test_names_say_nothing_and_bytes_repeat(tmp_path: Path) -> None:
    halves(RED, GREEN).save(tmp_path / "item-4711.png")
    one = prepare(tmp_path / "item-4711.png", tmp_path / "one", blurred=True)
    two = prepare(tmp_path / "item-4711.png", tmp_path / "two", blurred=True)
    assert one == two
    assert one.blurred_file
    assert one.file != one.blurred_file
    for name in (one.file, one.blurred_file):
        assert "4711" not in name
        assert len(Path(name).stem) == 32
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    assert {p.name for p in (tmp_path / "one").iterdir()} == {one.file, one.blurred_file}
    assert prepare(tmp_path / "item-4711.png", tmp_path / "one", blurred=False).blurred_file is None


def cut(data: bytes) -> bytes:
    return data[: len(data) * 2 // 3]


def encoded(kind: str) -> bytes:
    buffer = io.BytesIO()
    Image.effect_noise((64, 64), 90).convert("RGB").save(buffer, kind)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "is empty"),
        (b"hello, this is no image", "no image that can be read"),
        (b"\x00\x00\x00\x20ftypheic" + b"\x00" * 40, "HEIC"),
        (b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n", "no image that can be read"),
        (cut(encoded("JPEG")), "is broken"),
        (cut(encoded("PNG")), "is broken"),
        (cut(encoded("WEBP")), "is broken"),
        (cut(encoded("TIFF")), "is broken"),
        (encoded("PNG")[:60] + b"\x00\x00" + encoded("PNG")[62:], "is broken"),
    ],
)
def test_a_file_that_cannot_be_served_is_named(tmp_path: Path, data: bytes, says: str) -> None:
    path = tmp_path / "item"
    path.write_bytes(data)
    with pytest.raises(ImageError, match=says) as checked:
        check_image(path)
    assert "\n" not in str(checked.value)
    with pytest.raises(ImageError):
        prepare(path, tmp_path / "out", blurred=True)
    assert not (tmp_path / "out").exists()


def test_a_small_file_that_unpacks_to_too_much_is_refused(tmp_path: Path) -> None:
    Image.new("1", (10_000, 9_000)).save(tmp_path / "bomb.png")
    assert (tmp_path / "bomb.png").stat().st_size < 100_000
    with pytest.raises(ImageError, match="10000 × 9000 pixels"):
        check_image(tmp_path / "bomb.png")
    Image.new("1", (20_000, 20_000)).save(tmp_path / "larger.png")
    with pytest.raises(ImageError, match="too many pixels"):
        check_image(tmp_path / "larger.png")


@pytest.mark.parametrize("mode", ["F", "I"])
def test_pixels_that_no_screen_shows_are_named(tmp_path: Path, mode: str) -> None:
    Image.new(mode, (8, 8), 1_000_000).save(tmp_path / "depth.tiff")
    with pytest.raises(ImageError, match="8 bits a channel"):
        check_image(tmp_path / "depth.tiff")


def test_missing_and_unreadable_paths_are_named(tmp_path: Path) -> None:
    with pytest.raises(ImageError, match="does not exist"):
        check_image(tmp_path / "nowhere.jpg")
    with pytest.raises(ImageError, match="is a folder"):
        check_image(tmp_path)


def test_a_write_that_fails_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    halves(RED, GREEN).save(tmp_path / "one.png")

    def full(_descriptor: int) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="no space"):
        prepare(tmp_path / "one.png", tmp_path / "out", blurred=True)
    assert list((tmp_path / "out").iterdir()) == []


def test_only_named_decoders_run() -> None:
    assert not {"EPS", "PSD", "FPX", "WMF", "PDF"} & set(images._FORMATS)
