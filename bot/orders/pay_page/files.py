"""Serve the style sheet, script and icon of the pages. Browsers cache them until they change."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

FOLDER = Path(__file__).parent / "static"
TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
FOR_A_YEAR = "public, max-age=31536000, immutable"


@dataclass(frozen=True, slots=True)
class File:
    """One file. `version` changes with its content."""

    content: bytes
    kind: str
    version: str


class Files:
    """Serve the files of the folder `static`."""

    def __init__(self) -> None:
        self._files = {path.name: _read(path) for path in FOLDER.iterdir() if path.suffix in TYPES}

    def link(self, name: str) -> str:
        """Return the relative address of a file, so that it works behind any path prefix of a proxy."""
        return f"../static/{name}?v={self._files[name].version}"

    async def answer(self, request: Request) -> Response:
        """Answer with the file, or with 404."""
        file = self._files.get(request.path_params["name"])
        if file is None:
            raise HTTPException(404)
        return Response(file.content, media_type=file.kind, headers={"cache-control": FOR_A_YEAR})


def _read(path: Path) -> File:
    content = path.read_bytes()
    return File(content, TYPES[path.suffix], hashlib.sha256(content).hexdigest()[:12])
