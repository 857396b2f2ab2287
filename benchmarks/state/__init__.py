"""How quickly a state is opened again, against the Bootstrap that made it."""
