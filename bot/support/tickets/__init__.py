"""The services and tables of tickets."""
