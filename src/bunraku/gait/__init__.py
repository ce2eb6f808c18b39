"""How a character goes: which feet leave the ground when, how fast, and the plan at the rate of its motors."""
