"""Settings of hypothesis, for the tests of both packages.

Derandomised, so that a red run means a changed package and not an unlucky draw;
HYPOTHESIS_PROFILE=explore looks for new counterexamples.
"""

import os

from hypothesis import HealthCheck, settings

relaxed = settings(deadline=None, suppress_health_check=list(HealthCheck))
settings.register_profile("ci", relaxed, max_examples=30, derandomize=True)
settings.register_profile("explore", relaxed, max_examples=500)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))
