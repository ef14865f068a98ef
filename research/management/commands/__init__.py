"""The commands of `manage.py`: run, replay, retry and evaluate research, set up and check."""
