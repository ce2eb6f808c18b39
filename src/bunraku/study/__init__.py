"""Perceptual studies: which of two ways to perform people find more natural. A kit, a survey, an analysis."""
