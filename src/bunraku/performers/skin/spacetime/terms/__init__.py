"""Terms of the objective of a plan on soles."""
