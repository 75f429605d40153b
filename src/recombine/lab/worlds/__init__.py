"""Worlds: what cells look like to a model, as vectors, images, words and teachers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine._lazy import lazy_package

if TYPE_CHECKING:
    from recombine.lab.worlds import images as images
    from recombine.lab.worlds import rendered as rendered
    from recombine.lab.worlds.gated_problems import GatedProblem as GatedProblem
    from recombine.lab.worlds.gated_problems import gated_problem as gated_problem
    from recombine.lab.worlds.onehot import one_hot as one_hot
    from recombine.lab.worlds.plane import PlaneReading as PlaneReading
    from recombine.lab.worlds.plane import PlaneSamples as PlaneSamples
    from recombine.lab.worlds.plane import Redraw as Redraw
    from recombine.lab.worlds.plane import draw_held_out as draw_held_out
    from recombine.lab.worlds.plane import draw_training as draw_training
    from recombine.lab.worlds.plane import plane_reading as plane_reading
    from recombine.lab.worlds.plane import square_centres as square_centres
    from recombine.lab.worlds.plane import stack_samples as stack_samples
    from recombine.lab.worlds.scan import Commands as Commands
    from recombine.lab.worlds.scan import ScanSplit as ScanSplit
    from recombine.lab.worlds.scan import commands as commands
    from recombine.lab.worlds.scan import interpret as interpret
    from recombine.lab.worlds.scan import scan_reading as scan_reading
    from recombine.lab.worlds.scan import scan_split as scan_split
    from recombine.lab.worlds.teachers import LinearTeachers as LinearTeachers
    from recombine.lab.worlds.teachers import ReluTeacher as ReluTeacher
    from recombine.lab.worlds.teachers import linear_teachers as linear_teachers
    from recombine.lab.worlds.teachers import relu_teachers as relu_teachers
    from recombine.lab.worlds.teachers import sphere_inputs as sphere_inputs

lazy_package(__name__)
