"""The farthest points of shapes, from which all distances are made."""
