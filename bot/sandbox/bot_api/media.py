"""Photos and documents: saved, described as Telegram does, found by `file_id`.

A photo becomes a JPEG of up to 1,280 pixels on its longer side, with smaller copies. A document stays unchanged.
"""

from __future__ import annotations

import asyncio
import hashlib
import io
import mimetypes
import secrets
from typing import TYPE_CHECKING, Any

from PIL import Image, ImageOps

from bot.sandbox.bot_api.calls import BadRequest, Upload
from bot.sandbox.bot_api.model import StoredFile

if TYPE_CHECKING:
    from bot.sandbox.bot_api.calls import Params
    from bot.sandbox.bot_api.model import JsonObject
    from bot.sandbox.bot_api.world import World

PHOTO_SIDES = (90, 320, 800, 1280)
JPEG_QUALITY = 87
MAX_PHOTO_BYTES = 10_000_000
MAX_DOWNLOAD_BYTES = 20_000_000
_PREFIXES = {"photo": "AgACAgUAAxkDAAI", "document": "BQACAgUAAxkDAAI"}
_FOLDERS = {"photo": "photos", "document": "documents"}


async def read_media(world: World, params: Params, kind: str, value: str) -> Any:  # noqa: ANN401  Bot API JSON
    """Return an upload, `attach://…` or a `file_id` as a list of PhotoSize or as a Document.

    Raises:
        BadRequest: in Telegram's words.
    """
    upload = params.files.get(value.removeprefix("attach://")) if value.startswith("attach://") else None
    if upload is None and not value:
        upload = params.files.get(kind)
    if upload is not None:
        return await _store(world, kind, upload)
    if not value or value.startswith("attach://"):
        raise BadRequest(f"there is no {kind} in the request")
    return _known(world, kind, value)


async def take_photo(world: World, content: bytes) -> str:
    """Save a user's photo and return its file id.

    Raises:
        BadRequest: it isn't an image.
    """
    sizes: list[JsonObject] = await _store(world, "photo", Upload("", "", content))
    return str(sizes[-1]["file_id"])


async def take_document(world: World, upload: Upload) -> str:
    """Save a user's file and return its file id.

    Raises:
        BadRequest: it is empty or too large.
    """
    described: JsonObject = await _store(world, "document", upload)
    return str(described["file_id"])


def _known(world: World, kind: str, file_id: str) -> Any:  # noqa: ANN401  Bot API JSON
    file = world.files.get(file_id)
    if file is None:
        raise BadRequest("wrong file identifier/HTTP URL specified")
    if file.kind != kind:
        raise BadRequest(f"can't use file of type {file.kind.title()} as {kind.title()}")
    return file.media


async def _store(world: World, kind: str, upload: Upload) -> Any:  # noqa: ANN401  Bot API JSON
    if not upload.content:
        raise BadRequest("file must be non-empty")
    if kind == "document":
        return _store_document(world, upload)
    if len(upload.content) > MAX_PHOTO_BYTES:
        raise BadRequest(f"file of size {len(upload.content)} bytes is too big for a photo")
    copies = await asyncio.to_thread(_jpeg_copies, upload.content)
    return _store_photo(world, copies)


def _store_document(world: World, upload: Upload) -> JsonObject:
    mime = upload.mime or mimetypes.guess_type(upload.name)[0] or "application/octet-stream"
    extension = f".{upload.name.rpartition('.')[2]}" if "." in upload.name else ""
    file = _new_file(world, "document", upload.content, mime, extension)
    described: JsonObject = {"file_name": upload.name} if upload.name else {}
    described |= {"mime_type": mime, **_identity(file)}
    file.media = described
    world.save_file(file, upload.content)
    return described


def _store_photo(world: World, copies: list[tuple[int, int, bytes]]) -> list[JsonObject]:
    sizes: list[JsonObject] = []
    for width, height, content in copies:
        file = _new_file(world, "photo", content, "image/jpeg", ".jpg")
        sizes.append({**_identity(file), "width": width, "height": height})
        file.media = sizes
        world.save_file(file, content)
    return sizes


def _jpeg_copies(content: bytes) -> list[tuple[int, int, bytes]]:
    try:
        with Image.open(io.BytesIO(content)) as opened:
            image = _flattened(ImageOps.exif_transpose(opened))
    except (OSError, Image.DecompressionBombError) as error:
        raise BadRequest("IMAGE_PROCESS_FAILED") from error
    largest = min(max(image.size), PHOTO_SIDES[-1])
    return [_jpeg(image, side) for side in (*(side for side in PHOTO_SIDES if side < largest), largest)]


def _flattened(image: Image.Image) -> Image.Image:
    layer = image.convert("RGBA")
    ground = Image.new("RGBA", layer.size, "white")
    ground.alpha_composite(layer)
    return ground.convert("RGB")


def _jpeg(image: Image.Image, longer: int) -> tuple[int, int, bytes]:
    copy = image.copy()
    copy.thumbnail((longer, longer), Image.Resampling.LANCZOS)
    out = io.BytesIO()
    copy.save(out, "JPEG", quality=JPEG_QUALITY)
    return copy.width, copy.height, out.getvalue()


def _new_file(world: World, kind: str, content: bytes, mime: str, extension: str) -> StoredFile:
    world.state.last_file += 1
    world.save_state()
    number = world.state.last_file
    return StoredFile(
        # Browsers keep a file for ever by its id, so no other sandbox may use that id again.
        file_id=_PREFIXES[kind] + secrets.token_urlsafe(36),
        unique_id="AQAD" + hashlib.sha256(content).hexdigest()[:11],
        kind=kind,
        size=len(content),
        path=f"{_FOLDERS[kind]}/file_{number}{extension}",
        mime=mime,
    )


def _identity(file: StoredFile) -> JsonObject:
    return {"file_id": file.file_id, "file_unique_id": file.unique_id, "file_size": file.size}
