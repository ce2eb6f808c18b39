"""A port that one program listens at.

Linux and macOS keep a port for a minute after its program has ended, unless asked not to; Windows would share one that is in use.
"""

from __future__ import annotations

import socket
import sys


def claim_port(listening: socket.socket) -> None:
    """Make a socket, before it is bound, take a port that was just given back, and none that another program has."""
    if sys.platform == "win32":
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
    else:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
