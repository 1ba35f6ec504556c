"""The page's controls of the service: faults, settings and what was requested."""
