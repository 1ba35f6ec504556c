"""Faults that would hurt people, and the tests that find each (`tests/README.md`, "Planted faults")."""
