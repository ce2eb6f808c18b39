"""The motion of the whole body that positions sent to the motors make: what a performance predicts and a verifier repeats."""

from __future__ import annotations

from bunraku.character import Character
from bunraku.mechanics.measures.balance import planted
from bunraku.mechanics.tree import Tree, compile_tree
from bunraku.motion import JointCurves


def predicted_motion(character: Character, positions: JointCurves, tree: Tree | None = None) -> JointCurves:
    """Every coordinate of the character while the driven ones follow ``positions`` exactly.

    The others stay at home, followers follow their drivers, and a floating base moves so that the first foot stays where it stands
    at home. ``tree`` spares compiling it again.
    """
    tree = tree or compile_tree(character)
    return JointCurves(tree.names, positions.rate, planted(character, tree, tree.expand(positions.names, positions.values)))
