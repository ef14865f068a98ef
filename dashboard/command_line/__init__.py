"""The commands `runs` and `documents`: what they do, and how it is printed."""
