"""Where wishes meet physics. The contract is in `performer.py`."""
