"""A skin against the bodies inside it: signed distances to their shapes, forces on the skin, wrenches on the bodies."""
