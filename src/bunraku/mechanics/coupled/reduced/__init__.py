"""A skin with few unknowns: soles that give way, shares that sway, joints that fold by a law; for planning again while one waits."""
