"""Notifications and schedules: pages, forms, and their part of the API."""
