"""The rate: quotes, charts, daily quotes and price alerts."""
