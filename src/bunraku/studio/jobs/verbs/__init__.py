"""What a worker can be asked to do, one file a verb."""
