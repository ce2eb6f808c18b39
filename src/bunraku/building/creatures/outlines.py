"""The closed surface of a form, cut flat under its feet."""

from __future__ import annotations

import numpy as np

from bunraku.building.creatures.forms import Form
from bunraku.geometry.surfaces.distance import sampled
from bunraku.geometry.surfaces.isosurface import isosurface
from bunraku.geometry.surfaces.surface import Surface

FLAT = 1e-6
"""Heights below the ground are multiplied by this."""


def form_surface(form: Form, spacing: float = 0.005) -> Surface:
    """The surface of a form on a grid of ``spacing`` [m].

    A grid rounds the rim of a sole by one cell. So a form is cut a little more than that below the ground, and what is below it is
    pressed flat into its plane: the rim is then as sharp as the leg is straight there.
    """
    grid = sampled(form.field, form.lower, form.upper, spacing, band=3.0 * spacing)
    found = isosurface(grid.values, origin=grid.origin, spacing=grid.spacing)
    vertices = found.vertices.copy()
    vertices[:, 2] = np.where(vertices[:, 2] < 0.0, FLAT * vertices[:, 2], vertices[:, 2])
    return Surface(vertices, found.faces)
