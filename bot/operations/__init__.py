"""Operations: statistics, the monitor, the check, and regular jobs."""
