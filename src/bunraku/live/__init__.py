"""Streaming doors: frames in while they are made, legal frames out, over lines or a websocket."""
