"""From a mocap skeleton to a character: rig maps, targets and inverse kinematics."""
