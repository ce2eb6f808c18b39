"""Joint torques of a plan and their Jacobian."""
