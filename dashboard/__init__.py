"""The web application: pages, forms, live updates, exports and the server."""
