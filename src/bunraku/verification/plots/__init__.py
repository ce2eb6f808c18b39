"""Pictures of performances and of their replays."""
