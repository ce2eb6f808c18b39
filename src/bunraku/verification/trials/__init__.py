"""Replays in many worlds that are drawn at random: how often a performance holds, in which it is worst, and what hurts it most."""
