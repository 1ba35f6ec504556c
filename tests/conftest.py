"""How long property tests look for a counterexample: in each run a little, and long when somebody wishes."""

import os

from hypothesis import settings

EXAMPLES = int(os.environ.get("HYPOTHESIS_EXAMPLES", "40"))

# The parent is Hypothesis's own choice for this machine: in CI the same examples in each run. Time is never asserted.
settings.register_profile("kirim", settings(), max_examples=EXAMPLES, deadline=None)
settings.load_profile("kirim")
