"""Performances in notebooks: the motion as one page that needs no server, with a play bar."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from bunraku.errors import BadInput, MissingExtra

if TYPE_CHECKING:
    from bunraku.motion import Performance

RATE = 30.0


def page_of(performance: Performance, *, wish: bool = True, dark: bool = False, sound: bool = False) -> str:
    """One HTML page that plays the performance: solid as performed, green as wished; it loads nothing from anywhere.

    ``sound``: with its voice, in step with the play bar; the last pose is held until it ends.
    """
    try:
        import viser  # noqa: F401
    except ImportError as error:
        raise MissingExtra("viser", "studio", "showing a performance") from error
    from bunraku.stage.figure.figure import Figure
    from bunraku.stage.figure.motion import drawn
    from bunraku.studio.page.layer import Layer
    from bunraku.studio.page.view import GREEN, camera_for
    from bunraku.studio.server.server import StudioServer
    from bunraku.studio.voice import with_voice

    figure = Figure(performance.character)
    layers = [(drawn(performance, figure=figure), None, None)]
    if wish:
        layers.append((drawn(performance, which="wish", figure=figure), GREEN, 0.35))  # type: ignore[arg-type]
    server = StudioServer()
    try:
        scene = server.viser.scene
        scene.set_up_direction("+z")
        scene.add_grid("/ground", 8.0, 8.0, cell_size=0.1, section_size=0.5, plane="xy")
        shown = []
        for k, (motion, tint, opacity) in enumerate(layers):
            layer = Layer(server.viser, f"/layer-{k}", tint=tint, opacity=opacity)
            layer.show(motion)
            shown.append(layer)
        solid = layers[0][0]
        middle, away = camera_for(solid.lower.min(axis=0), solid.upper.max(axis=0), width=800.0, height=480.0, covered=60.0)
        server.viser.initial_camera.position = tuple(middle + away)
        server.viser.initial_camera.look_at = tuple(middle)
        recording = server.viser.get_scene_serializer()
        duration = max(solid.duration, performance.audio.duration if sound and performance.audio is not None else 0.0)
        for k in range(round(duration * RATE) + 1):
            for layer in shown:
                layer.move(k / RATE)
            recording.insert_sleep(1.0 / RATE)
        title = f"{performance.clip_name} performed by {performance.character.name}"
        page: str = recording.as_html(dark_mode=dark).replace("<title>Viser</title>", f"<title>{escape(title)}</title>", 1)
        return with_voice(page, performance.audio) if sound and performance.audio is not None else page
    finally:
        server.stop()


def show(performance: Performance, *, wish: bool = True, height: int = 480, dark: bool = False) -> Any:
    """The page inside a notebook's cell."""
    try:
        from IPython.display import HTML
    except ImportError as error:
        raise BadInput(
            "showing a performance needs a notebook (pip install ipykernel); outside of one, write bunraku.studio.notebook.page_of"
            "(performance) to an .html file"
        ) from error
    page = escape(page_of(performance, wish=wish, dark=dark), quote=True)
    return HTML(f'<div><iframe srcdoc="{page}" width="100%" height="{int(height)}" style="border:none"></iframe></div>')
