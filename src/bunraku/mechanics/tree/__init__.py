"""One kinematic tree for every character: arrays, forward kinematics, Jacobians, centre of mass."""

from bunraku.mechanics.tree.tree import Configuration, Tree, compile_tree, rotation_of

__all__ = ["Configuration", "Tree", "compile_tree", "rotation_of"]
