"""Measuring the product on questions whose answers and pages are known."""
