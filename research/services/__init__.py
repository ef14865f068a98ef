"""What people and clients may do: each function takes the actor, and checks."""

from research.services.errors import ServiceError

__all__ = ["ServiceError"]
