"""Worlds: what cells look like to a model, as vectors, images, words and teachers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine._rooms import open_room

if TYPE_CHECKING:
    from recombine.worlds import images as images
    from recombine.worlds import rendered as rendered
    from recombine.worlds.gated_problems import GatedProblem as GatedProblem
    from recombine.worlds.gated_problems import gated_problem as gated_problem
    from recombine.worlds.onehot import one_hot as one_hot
    from recombine.worlds.plane import PlaneReading as PlaneReading
    from recombine.worlds.plane import PlaneSamples as PlaneSamples
    from recombine.worlds.plane import Redraw as Redraw
    from recombine.worlds.plane import draw_held_out as draw_held_out
    from recombine.worlds.plane import draw_training as draw_training
    from recombine.worlds.plane import plane_reading as plane_reading
    from recombine.worlds.plane import square_centres as square_centres
    from recombine.worlds.plane import stack_samples as stack_samples
    from recombine.worlds.scan import Commands as Commands
    from recombine.worlds.scan import ScanSplit as ScanSplit
    from recombine.worlds.scan import commands as commands
    from recombine.worlds.scan import interpret as interpret
    from recombine.worlds.scan import scan_reading as scan_reading
    from recombine.worlds.scan import scan_split as scan_split
    from recombine.worlds.teachers import LinearTeachers as LinearTeachers
    from recombine.worlds.teachers import ReluTeacher as ReluTeacher
    from recombine.worlds.teachers import linear_teachers as linear_teachers
    from recombine.worlds.teachers import relu_teachers as relu_teachers
    from recombine.worlds.teachers import sphere_inputs as sphere_inputs

open_room(__name__)
