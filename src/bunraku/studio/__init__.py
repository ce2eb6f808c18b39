"""The browser studio: a session without any user interface, and a page over it."""
