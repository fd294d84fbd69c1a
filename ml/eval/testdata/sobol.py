"""The first points of SciPy's Sobol sequence without scrambling, as parts of 128:
python3 sobol.py > sobol.json"""

import json
import sys

from scipy.stats import qmc

points = qmc.Sobol(16, scramble=False).random(128)
json.dump([[int(v) for v in row * 128] for row in points], sys.stdout, separators=(",", ":"))
