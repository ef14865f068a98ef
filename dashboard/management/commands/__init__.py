"""One module per command of `manage.py`."""
