"""Where the project lives, for the packages' metadata: hatchling asks this file when it builds.

The address is that of the repository a release is made from, so that no copy sends its readers to another one:
``RECOMBINE_REPOSITORY`` (and ``RECOMBINE_DOCS``, where the documentation is published). Without them there is none, and
the links of the README stay relative.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

#: A link or picture of Markdown that leads to a file of the repository.
RELATIVE = re.compile(r"(?P<sign>!?)(?P<text>\[[^]]*\])\((?![a-z]+:|#)(?P<path>[^)\s]+)\)")


class ProjectUrls(MetadataHookInterface):
    """Add the addresses that the environment names."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Fill ``project.urls``, and let the README lead to the repository from wherever it is shown."""
        source = os.environ.get("RECOMBINE_REPOSITORY", "").rstrip("/")
        docs = os.environ.get("RECOMBINE_DOCS", "").rstrip("/")
        urls = {"Documentation": f"{docs}/"} if docs else {}
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        if source:
            urls |= {
                "Source": source,
                "Issues": f"{source}/issues",
                "Changelog": f"{source}/blob/main/CHANGELOG.md",
            }
            text = RELATIVE.sub(
                lambda link: (
                    f"{link['sign']}{link['text']}({source}/{'raw' if link['sign'] else 'blob'}/main/{link['path']})"
                ),
                text,
            )
        metadata["urls"] = urls
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
