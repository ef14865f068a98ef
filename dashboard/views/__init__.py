"""Views: one module per area of the interface."""
