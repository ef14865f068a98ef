"""Django forms of the web interface."""
