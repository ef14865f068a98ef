"""Project settings of Django, read from the environment."""
