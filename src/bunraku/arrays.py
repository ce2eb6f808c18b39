"""The array that all mathematics here is written in: real numbers in double precision."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
