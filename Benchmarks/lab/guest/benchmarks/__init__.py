"""What the measuring cases stand on beside labkit: the other side, and what a process takes."""
