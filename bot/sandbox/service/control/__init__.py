"""The control endpoints of the service: faults, settings, orders and the request log."""
