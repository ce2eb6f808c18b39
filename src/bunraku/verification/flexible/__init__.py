"""Characters with flexible parts: rods as chains of links, and the full elastic model."""
