"""What the system tests in Python share."""
