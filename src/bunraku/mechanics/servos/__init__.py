"""Position servos: their gains, stated or of a scale with the robot, and the commands that make them give a planned torque."""
