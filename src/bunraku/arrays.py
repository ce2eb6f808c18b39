"""The arrays that all mathematics here is written in: real numbers in double precision, and whole numbers that index."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Indices = NDArray[np.int64]
