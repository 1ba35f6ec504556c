"""What the package's metadata says of the repository, whose address only the one who publishes the package knows.

`KIRIM_REPOSITORY=https://… python -m hatchling build` adds the project's URLs, and makes the README's picture and links
absolute: a package index shows the README without the files beside it. Without the variable the README stays as it is.
"""

import os
import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

PICTURE = re.compile(r"(!\[[^]]*\]\()(?!https?:)([^)]+\))")
LINK = re.compile(r"((?<!!)\[[^]]*\]\()(?!https?:|#)([^)]+\))")


class RepositoryHook(MetadataHookInterface):
    """Fill in the README and the URLs."""

    PLUGIN_NAME = "custom"

    def update(self, metadata: dict[str, Any]) -> None:
        """Add `readme` and `urls`. The paths of the URLs are those of GitHub, which other hosts understand, too."""
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        metadata["urls"] = {}
        if repository := os.environ.get("KIRIM_REPOSITORY", "").rstrip("/"):
            tag = f"v{metadata['version']}"
            text = PICTURE.sub(rf"\g<1>{repository}/raw/{tag}/\2", text)
            text = LINK.sub(rf"\g<1>{repository}/blob/{tag}/\2", text)
            metadata["urls"] = {
                "Repository": repository,
                "Documentation": f"{repository}/tree/{tag}/docs",
                "Changelog": f"{repository}/blob/{tag}/CHANGELOG.md",
                "Issues": f"{repository}/issues",
            }
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
