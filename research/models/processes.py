"""Processes that execute runs."""

from __future__ import annotations

from django.db import models
from django.utils import timezone


class WorkerProcess(models.Model):
    """A process that executes runs, from its start to its end.

    `name` is the lease owner of its runs. `pid`, `pid_started` and `pid_space` (the kernel's boot
    and the namespace of process ids) identify the process to others on the same host.
    """

    name = models.CharField(max_length=100, unique=True)
    host = models.CharField(max_length=255)
    machine_id = models.CharField(max_length=64, blank=True)
    boot_id = models.CharField(max_length=64, blank=True)
    pid_space = models.CharField(max_length=100, blank=True)
    pid = models.PositiveIntegerField()
    pid_started = models.CharField(max_length=32, blank=True)
    queues = models.JSONField(default=list)
    slots = models.PositiveIntegerField(default=0, help_text="Runs that it executes at once.")
    replay_versions = models.JSONField(default=list)
    is_draining = models.BooleanField(default=False)
    started_at = models.DateTimeField(default=timezone.now)
    seen_at = models.DateTimeField(help_text="Its last heartbeat.")

    class Meta:
        ordering = ("host", "pk")
        verbose_name = "process"
        verbose_name_plural = "processes"

    def __str__(self) -> str:
        return f"{self.host}, process {self.pid}"


class SharedLimit(models.Model):
    """State of a limit that all processes share, such as the calls under way at a model server."""

    name = models.CharField(max_length=200, unique=True)
    state = models.JSONField(default=dict)
    changed_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ("name",)
        verbose_name = "shared limit"
        verbose_name_plural = "shared limits"

    def __str__(self) -> str:
        return self.name
