"""Arrays in, estimates out. Pure numpy; knows no benchmark, no store and no model."""
