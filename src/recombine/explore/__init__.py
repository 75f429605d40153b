"""The page on which seen cells are painted and what follows from them is shown: one file that asks for nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine._lazy import lazy_package

if TYPE_CHECKING:
    from recombine.explore.notebook import Explorer as Explorer
    from recombine.explore.notebook import explorer as explorer
    from recombine.explore.scene import check_scene as check_scene
    from recombine.explore.scene import page_path as page_path
    from recombine.explore.scene import painted as painted
    from recombine.explore.scene import scene_of as scene_of
    from recombine.explore.scene import scene_parts as scene_parts

lazy_package(__name__)
