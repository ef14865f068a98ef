"""The web application: settings, pages and the server; everything it does goes by `research`."""
