"""Worlds: what cells look like to a model, as vectors, images, words and teachers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine._rooms import open_room

if TYPE_CHECKING:
    from recombine.worlds import images as images
    from recombine.worlds import rendered as rendered
    from recombine.worlds.gated_problems import GatedProblem as GatedProblem
    from recombine.worlds.gated_problems import problem as problem
    from recombine.worlds.onehot import one_hot as one_hot
    from recombine.worlds.plane import PlaneSamples as PlaneSamples
    from recombine.worlds.plane import Reading as Reading
    from recombine.worlds.plane import reading_named as reading_named
    from recombine.worlds.scan import Commands as Commands
    from recombine.worlds.scan import Split as Split
    from recombine.worlds.scan import commands as commands
    from recombine.worlds.scan import interpret as interpret
    from recombine.worlds.scan import reading as reading
    from recombine.worlds.scan import split as split
    from recombine.worlds.teachers import LinearTeachers as LinearTeachers
    from recombine.worlds.teachers import ReluTeacher as ReluTeacher
    from recombine.worlds.teachers import linear_teachers as linear_teachers
    from recombine.worlds.teachers import relu_teachers as relu_teachers
    from recombine.worlds.teachers import sphere_inputs as sphere_inputs

open_room(__name__)
