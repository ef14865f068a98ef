"""Management commands of the web application."""
