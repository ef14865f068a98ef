"""The ASGI server: Daphne with body limits, timeouts, backpressure and graceful shutdown."""
