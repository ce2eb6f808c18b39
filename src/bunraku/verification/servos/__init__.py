"""One servo for every replay: its figures, the actuators of MuJoCo that are it, what it is sent, how warm it becomes."""
