"""Reconciliation: the service's list of orders is compared with our rows."""
