"""The page: panels and scene over a session. It shows and calls; it computes nothing."""
