"""Settings of the whole suite."""

from hypothesis import settings

settings.register_profile("shared", deadline=None)  # the machines that run this are shared; a slow moment is no fault
settings.load_profile("shared")
