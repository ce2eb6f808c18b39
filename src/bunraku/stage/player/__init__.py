"""Playing performances on a machine: in time, within its limits, and stopped at once when anything is wrong."""
