"""Design: how the motion of a character follows from its dimensions, and which dimensions a motion asks for."""
