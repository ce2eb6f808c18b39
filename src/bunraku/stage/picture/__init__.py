"""Pictures without a browser or a graphics card: figures drawn by a rasterizer of our own, and films and sheets of them."""
