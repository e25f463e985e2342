"""Images as workers get them: upright, in sRGB, of bounded size, and nothing but pixels.

What a camera or an editor wrote beside the pixels (EXIF, GPS, XMP, ICC profiles, comments,
thumbnails) never leaves the team: the served file is encoded anew from the pixels alone.
"""

from __future__ import annotations

import hashlib
import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, cast

from PIL import Image, ImageCms, ImageFilter, ImageOps, UnidentifiedImageError

from dialogs.files import write_whole

MAX_SIDE: Final = 1600
"""The longer side of a served image, in pixels, at most."""

MAX_PIXELS: Final = 80_000_000
"""The most pixels a source image may have: a small file can unpack to more than the memory."""

BLUR_SIDE: Final = 14
"""To how many pixels the longer side is reduced for the blurred variant.

What is left of any picture is a field of at most 14 by 14 colours: no sharpening brings back
what was averaged away.
"""

# Named, so that Pillow's decoders of PostScript, fonts and the like are never run.
_FORMATS: Final = ("JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF", "AVIF")
FORMATS_TEXT: Final = "JPEG, PNG, WebP, GIF, BMP, TIFF or AVIF"

_QUALITY: Final = 90
_WHITE: Final = (255, 255, 255)
_SIXTEEN_BIT: Final = 65_535


class ImageError(ValueError):
    """An image that cannot be used; the message says why and what would be right."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """An image ready to be served. File names are relative to the folder they were written to.

    `width` and `height` in pixels, the same for both files; `sha256` is that of `file`, in hex.
    """

    file: str
    blurred_file: str | None
    width: int
    height: int
    sha256: str


def check_image(path: Path) -> None:
    """Read all of the image at `path` once.

    Raises:
        ImageError: `prepare` could not use it.
    """
    with _opened(path) as image:
        image.verify()
    with _opened(path) as image:
        _pixels(image)


def prepare(path: Path, out_dir: Path, blurred: bool) -> Prepared:
    """Write the image at `path` as it is served into `out_dir`, and a blurred variant if asked.

    The first frame of an animation, turned upright, at most `MAX_SIDE` pixels long, on white
    where it is transparent (so that it looks the same on a dark page), as JPEG without any
    metadata. Files are named by the hash of their bytes, so the same source gives the same
    files, and neither name says anything about the item or about the other file.

    Raises:
        ImageError: the image is broken, too large, or of a kind that cannot be read.
        OSError: `out_dir` cannot be written.
    """
    with _opened(path) as image:
        clear = _pixels(image)
    file, sha256 = _write(out_dir, clear)
    blurred_file = _write(out_dir, _blur(clear))[0] if blurred else None
    return Prepared(file, blurred_file, clear.width, clear.height, sha256)


@contextmanager
def _opened(path: Path) -> Iterator[Image.Image]:
    """The image at `path`, opened but not decoded; every failure inside is an `ImageError`."""
    try:
        with warnings.catch_warnings():
            # Pillow warns of damaged metadata, which is thrown away, and of large images, which
            # are refused below.
            warnings.simplefilter("ignore")
            with Image.open(path, formats=_FORMATS) as image:
                if image.width * image.height > MAX_PIXELS:
                    raise ImageError(_too_large(f"{image.width} × {image.height} pixels"))
                yield image
    except ImageError:
        raise
    except Image.DecompressionBombError:
        raise ImageError(_too_large("far too many pixels")) from None
    except UnidentifiedImageError:
        raise ImageError(_unknown(path)) from None
    except FileNotFoundError:
        raise ImageError("does not exist; correct the path or add the file") from None
    except IsADirectoryError:
        raise ImageError("is a folder; name an image file") from None
    except PermissionError:
        raise ImageError("may not be read; change its permissions") from None
    except MemoryError:
        raise ImageError(_too_large("more pixels than the memory holds")) from None
    except Exception as error:  # A damaged file makes Pillow's decoders raise anything at all.
        told = error.strerror if isinstance(error, OSError) and error.errno else str(error)
        reason = " ".join(str(told).split())[:200] or type(error).__name__
        raise ImageError(f"is broken ({reason}); replace it by a whole copy") from None


def _too_large(what: str) -> str:
    return f"has {what}; make it smaller than {MAX_PIXELS // 1_000_000} million"


def _unknown(path: Path) -> str:
    with path.open("rb") as file:
        head = file.read(16)
    if not head:
        return "is empty; replace it by a whole copy"
    if head[4:8] == b"ftyp":
        return f"is a HEIC or similar file; save it as {FORMATS_TEXT}"
    return f"is no image that can be read; save it as {FORMATS_TEXT}"


def _pixels(image: Image.Image) -> Image.Image:
    """The first frame as a new RGB image in sRGB: upright, opaque, of bounded size, no metadata."""
    image.seek(0)
    image.load()
    profile = image.info.get("icc_profile")
    upright = ImageOps.exif_transpose(image)
    flat = _flatten(_eight_bit(upright))
    if profile:
        flat = _to_srgb(flat, profile)
    if flat.mode != "RGB":
        flat = flat.convert("RGB")
    flat.thumbnail((MAX_SIDE, MAX_SIDE), Image.Resampling.LANCZOS)
    # The pixels alone: whatever hangs on the opened image would be written by `save`.
    return Image.frombytes("RGB", flat.size, flat.tobytes())


def _eight_bit(image: Image.Image) -> Image.Image:
    match image.mode:
        case "I;16" | "I;16L" | "I;16B" | "I;16N" | "I":
            wide = image.convert("I")
            low, high = cast("tuple[int, int]", wide.getextrema())
            if low < 0:
                raise ImageError("has negative pixel values; save it with 8 bits a channel")
            if high > _SIXTEEN_BIT:
                raise ImageError("has 32 bits a channel; save it with 8 bits a channel")
            return wide.point(lambda value: value * (255 / _SIXTEEN_BIT)).convert("L")
        case "F":
            raise ImageError("has floating-point pixels; save it with 8 bits a channel")
        case "1" | "P" | "PA":
            return image.convert("RGBA" if image.has_transparency_data else "RGB")
        case "L" | "RGB" if image.has_transparency_data:
            return image.convert("RGBA")
        case "LAB" | "HSV" | "YCbCr":
            return image.convert("RGB")
        case _:
            return image


def _flatten(image: Image.Image) -> Image.Image:
    """Put a transparent image on white; any other is returned as it is."""
    if not image.has_transparency_data:
        return image
    layered = image.convert("RGBA")
    ground = Image.new("RGBA", image.size, (*_WHITE, 255))
    return Image.alpha_composite(ground, layered).convert("RGB")


_SRGB: Final = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB"))


def _to_srgb(image: Image.Image, profile: bytes) -> Image.Image:
    """Convert to sRGB; a profile that is damaged or for other channels is passed over."""
    try:
        source = ImageCms.ImageCmsProfile(io.BytesIO(profile))
        converted = ImageCms.profileToProfile(image, source, _SRGB, outputMode="RGB")
    except (ImageCms.PyCMSError, OSError, ValueError):
        return image
    assert converted is not None, "only an in-place conversion returns nothing"
    return converted


def _blur(clear: Image.Image) -> Image.Image:
    """A field of the same size that keeps only where which colour was, and roughly."""
    scale = min(BLUR_SIDE / max(clear.size), 0.5)
    grid = (max(1, round(clear.width * scale)), max(1, round(clear.height * scale)))
    small = clear.resize(grid, Image.Resampling.BOX).filter(ImageFilter.GaussianBlur(0.7))
    return small.resize(clear.size, Image.Resampling.BICUBIC)


def _write(folder: Path, image: Image.Image) -> tuple[str, str]:
    """Encode and write under the hash of the bytes; return the file's name and SHA-256."""
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=_QUALITY, subsampling="4:4:4", optimize=True)
    data = buffer.getvalue()
    sha256 = hashlib.sha256(data).hexdigest()
    name = f"{sha256[:32]}.jpg"
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / name, data)
    return name, sha256
