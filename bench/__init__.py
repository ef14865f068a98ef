"""Measurements that anyone can rerun."""
