"""Machines of ours at the other end of a line: for tests, and for rehearsing a show before the hardware has come."""
