"""Characters with parts that bend, as mechanical systems: reduced parts, closed loops, soft motors."""
