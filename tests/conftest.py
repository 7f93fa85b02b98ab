"""Settings of the whole suite."""

from hypothesis import HealthCheck, settings

# The machines that run this are shared: a slow moment is no fault.
settings.register_profile("shared", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("shared")
