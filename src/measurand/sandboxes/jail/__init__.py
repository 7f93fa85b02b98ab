"""What runs inside a jail, under a bare interpreter: the standard library only, and little of it."""
