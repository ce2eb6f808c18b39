"""The skin in the Design tab: which surface and template, folds, glue, thickness; plan it, make it, see it."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import Any

from bunraku.building.creatures.mechanism import TEMPLATES
from bunraku.building.creatures.recipe import SkinRecipe
from bunraku.building.creatures.skin_views import WornSkin, worn_skin
from bunraku.errors import BunrakuError
from bunraku.studio.document import Document
from bunraku.studio.edits.skins import bodies_of, recipe_of, scale_of
from bunraku.studio.page.dragging import Drag
from bunraku.studio.page.skin_figures import even_places, fold_legend, remark, skin_figures
from bunraku.studio.page.skin_scene import SkinScene, View
from bunraku.studio.page.ui import Html, RefreshedFolder, Ui, alone, put

UNITS = {"metres": 1.0, "centimetres": 0.01, "millimetres": 0.001}
VIEWS: dict[View, str] = {"character": "Character", "plan": "Plan", "thickness": "Thickness", "glue": "Glue"}


class SkinPanel:
    """Edits the recipe of a skin and shows the plan or the skin in the scene."""

    def __init__(self, ui: Ui, tab: Any, scene: SkinScene) -> None:
        self._ui, self._scene = ui, scene
        self._section = RefreshedFolder(ui, tab, "Skin", order=1.5)
        self._view: View = "character"
        self._seen: tuple[object, object, object] = ("", None, None)
        self._worn: tuple[object, WornSkin | None] = (None, None)
        self._handles: dict[str, Any] = {}
        self._figures: Html | None = None
        self._body = ""

    @alone
    def refresh(self, what: str) -> None:
        """Show the recipe and what is planned or made of it."""
        if what not in ("document", "shown", "skin", "job"):
            return
        document = self._ui.session.document
        if what != "job":
            self._choose_view(document)
        begun, skinned = bool(document.recipe), document.base is not None and document.base.skin is not None
        self._section.show(self._key(document), lambda: self._fill(document), visible=begun or skinned)
        if begun or skinned:
            self._set(document, self._ui.session.previewed)
        if what != "job":
            self._draw(document)

    def see(self, view: View) -> None:
        """Another view."""
        self._view = view
        self.refresh("skin")

    def widget(self, name: str) -> Any:
        """The widget of a choice ("thickness", "glue", "template", ...), of the view ("see"), of a fold's place ("at knee")."""
        return self._handles[name]

    # which view

    def _choose_view(self, document: Document) -> None:
        """A new plan, a new skin, a new motion is what one wants to see."""
        session = self._ui.session
        plan = session.skinning.latest(document)
        creature = session.skinning.made_of(document)
        now = (plan.key if plan else "", creature.source if creature else None, session.shown.motion or session.shown.wish)
        old, self._seen = self._seen, now
        if now[0] and now[0] != old[0]:
            self._view = "plan"
        if now[1] and now[1] != old[1]:
            self._view = "thickness"
        if now[2] is not None and now[2] is not old[2]:
            self._view = "character"
        if self._view not in self._possible(document):
            self._view = "character"

    def _possible(self, document: Document) -> list[View]:
        views: list[View] = ["character"] if document.base is not None else []
        if document.recipe:
            views.append("plan")
        if document.base is not None and document.base.skin is not None:
            views += ["thickness", "glue"]
        return views

    def _draw(self, document: Document) -> None:
        plan = self._ui.session.skinning.latest(document)
        worn = self._worn_by(document) if self._view in ("thickness", "glue") else None
        if worn is not None and self._view == "thickness":
            self._scene.show_thickness(worn)
        elif worn is not None:
            self._scene.show_glue(worn)
        elif plan is not None and self._view == "plan":
            self._scene.show_plan(plan, tuple(recipe_of(document).joints))
        else:
            self._scene.clear()

    def _worn_by(self, document: Document) -> WornSkin | None:
        base = document.base
        if base is None or base.skin is None:
            return None
        if self._worn[0] is not base:
            from bunraku.mechanics.coupled.known_skins import skin_of

            self._worn = (base, worn_skin(skin_of(base)))
        return self._worn[1]

    # widgets

    def _key(self, document: Document) -> tuple[Any, ...]:
        if not document.recipe:
            return (id(document.base),)
        recipe = recipe_of(document)
        views = tuple(self._possible(document))
        return (document.recipe["source"], recipe.template, tuple(recipe.joints.items()), views, self._body)

    def _fill(self, document: Document) -> None:
        self._handles = {}
        self._fill_view(document)
        if document.recipe:
            self._fill_choices(document, recipe_of(document))
        ui, session = self._ui, self._ui.session
        self._figures = ui.html("")
        if document.recipe:
            ui.button("Make the creature", session.make_skin, color="green", hint="Half a minute")
            ui.button("Plan", session.plan_skin, hint="Again: it is planned after every edit by itself")
            self._fill_folds(recipe_of(document))
            self._fill_bonds(recipe_of(document))
            ui.button("Leave the skin", partial(session.do, "skin.end"), color="gray", hint="A creature that was made stays")

    def _fill_view(self, document: Document) -> None:
        labels = tuple(VIEWS[one] for one in self._possible(document))
        if not labels:
            return
        back = {label: view for view, label in VIEWS.items()}
        shown = VIEWS[self._view] if VIEWS[self._view] in labels else labels[0]
        see = self._ui.dropdown("See", labels, lambda label: self.see(back[label]), initial_value=shown, hint="In the scene")
        self._handles["see"] = see

    def _fill_choices(self, document: Document, recipe: SkinRecipe) -> None:
        ui, gui = self._ui, self._ui.gui
        template = gui.add_dropdown("Template", tuple(TEMPLATES), initial_value=recipe.template, hint="The mechanism inside")
        self._choice("template", template)
        unit = next((name for name, scale in UNITS.items() if scale == scale_of(document)), "metres")
        scale = partial(ui.session.do, "skin.set", field="scale")
        self._handles["scale"] = ui.dropdown("Unit of the file", UNITS, lambda name: scale(value=UNITS[name]), initial_value=unit)
        self._slide("thickness", "Thickness [mm]", 1.0, 20.0, 0.1, 1e3)
        self._slide("glue", "Glue points", 40, 1000, 1, 1.0)
        mass = gui.add_number("Mass [kg]", recipe.mass, min=0.0, max=100.0, step=0.1, hint="Of the whole; 0: what it comes to")
        self._choice("mass", mass, float)

    def _fill_folds(self, recipe: SkinRecipe) -> None:
        with self._ui.gui.add_folder("Folds", expand_by_default=True):
            self._slide("teeth", "Grooves", 0, 4, 1, 1.0)
            for joint, on in recipe.joints.items():
                self._fill_fold(recipe, joint, on)
            self._ui.html(fold_legend(recipe))

    def _fill_fold(self, recipe: SkinRecipe, joint: str, on: bool) -> None:
        """Whether the skin folds at a joint, and where."""
        ui, last = self._ui, joint == tuple(recipe.joints)[-1]
        fold, hint = partial(ui.session.do, "skin.fold", joint=joint), "Whether the skin folds there"
        ui.checkbox(f"{joint} folds", on, lambda checked: fold(on=bool(checked)), disabled=last, hint=hint)
        if on:
            hint, percent = "0 at the torso, 100 at the foot", round(100.0 * even_places(recipe)[joint])
            slider = ui.gui.add_slider(f"{joint} at [%]", 0.0, 100.0, 1.0, percent, hint=hint)
            drag = self._drag(f"fold {joint}", "skin.fold")
            self._handles[f"at {joint}"] = drag.follow(slider, lambda raw: {"joint": joint, "place": 0.01 * float(raw)})

    def _fill_bonds(self, recipe: SkinRecipe) -> None:
        ui, gui = self._ui, self._ui.gui
        with gui.add_folder("Glue of a body", expand_by_default=False):
            bodies = bodies_of(recipe.template)
            chosen = self._body if self._body in bodies else bodies[0]
            ui.dropdown("Body", bodies, self._pick_body, initial_value=chosen)
            hint, share = "1: as much as its area asks for", min(recipe.bonds.get(chosen, 1.0), 5.0)
            slider, drag = gui.add_slider("Times its share", 0.0, 5.0, 0.1, share, hint=hint), self._drag("bond", "skin.bond")
            self._handles["bond"] = drag.follow(slider, lambda value: {"body": chosen, "share": float(value)})

    def _pick_body(self, name: str) -> None:
        self._body = name
        self.refresh("document")

    def _choice(self, field: str, handle: Any, kind: Any = str) -> None:
        self._handles[field] = handle
        self._ui.changed(handle, lambda value: self._ui.session.do("skin.set", field=field, value=kind(value)))

    def _slide(self, field: str, label: str, low: float, high: float, step: float, scale: float) -> None:
        """A slider for a number of the recipe, shown ``scale`` times larger."""
        value = scale * float(getattr(recipe_of(self._ui.session.document), field))
        handle = self._ui.gui.add_slider(label, low, high, step, type(step)(round(value / step) * step))

        def arguments(raw: float) -> dict[str, Any]:
            return {"field": field, "value": int(raw) if isinstance(step, int) else float(raw) / scale}

        self._handles[field] = self._drag(f"skin {field}", "skin.set").follow(handle, arguments)

    def _drag(self, key: str, edit: str) -> Drag:
        session, source = self._ui.session, self._ui.session.document.recipe.get("source")
        return Drag(self._ui, key, edit, valid=lambda: session.document.recipe.get("source") == source)

    def _set(self, document: Document, dragged: Document) -> None:
        """Widgets as the document has them, or the hand that drags; figures of the document."""
        session, handles = self._ui.session, self._handles
        values: dict[str, Any] = {"see": VIEWS[self._view]}
        if dragged.recipe:
            recipe = recipe_of(dragged)
            values |= {"thickness": round(1e3 * recipe.thickness, 1), "mass": recipe.mass}
            values |= {"glue": recipe.glue, "teeth": recipe.teeth}
            values |= {f"at {joint}": round(100.0 * place) for joint, place in even_places(recipe).items()}
            values |= {"scale": next((name for name, scale in UNITS.items() if scale == scale_of(dragged)), "metres")}
            if "bond" in handles:
                values["bond"] = min(recipe.bonds.get(self._body or bodies_of(recipe.template)[0], 1.0), 5.0)
        for name, value in values.items():
            if name in handles and value in getattr(handles[name], "options", (value,)):
                put(handles[name], value)
        if self._figures is not None:
            worn, skinning = None, session.skinning
            with suppress(BunrakuError):
                worn = self._worn_by(document)
            planning = document.recipe and skinning.plan_of(document) is None
            words = skin_figures(skinning.latest(document), skinning.made_of(document), worn)
            words += remark(skinning.trouble or "planning …") if planning else ""
            self._figures.content = f'<div class="bunraku-skin" style="font-size:12px;padding:.2em .6em">{words}</div>'
