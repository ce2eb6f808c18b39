"""A skin with few unknowns: soles that give way, shares that sway, joints that fold by a law; to plan again while one waits."""
