"""What the lessons teach, on the standard library alone: one module a lesson."""
