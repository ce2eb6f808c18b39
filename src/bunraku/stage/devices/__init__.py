"""Machines that take commands while a performance plays: their description, and one driver for each protocol."""
