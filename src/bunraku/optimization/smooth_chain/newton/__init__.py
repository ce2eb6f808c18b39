"""Newton steps of the interior point: four sweeps over time, eight joints in lock step."""
