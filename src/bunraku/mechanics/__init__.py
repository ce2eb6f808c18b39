"""What is true whatever the artist wants: the tree, balance, collisions."""
