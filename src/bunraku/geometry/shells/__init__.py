"""Skins: from a closed triangle surface to a one-layer shell of quadratic tetrahedra with folding regions round the joints."""
