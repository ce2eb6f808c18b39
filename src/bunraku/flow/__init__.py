"""The flow: character and clip, performer, performance. Doors call it, and have no pipeline of their own."""
