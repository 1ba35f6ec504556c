"""What operators watch: statistics, alarms, checks and the regular jobs."""
