"""A gateway whose power is cut again and again, and what its peripherals and its receiver saw."""
