"""One frame: torques of the motors with the contact solved exactly inside."""
