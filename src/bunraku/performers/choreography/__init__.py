"""Choreography: motion primitives of a marionette one after the other, switched at the best times."""
