"""From a mocap skeleton to a character: rig maps and inverse kinematics."""
