"""The installation: settings stored on the Setup page, processes, and limits that they share."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone


class InstallationSetting(models.Model):
    """A setting by its environment name, which the environment overrides.

    Not registered in the admin, since one is an API key.
    """

    name = models.CharField(max_length=60, unique=True)
    value = models.TextField()
    changed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    changed_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ("name",)
        verbose_name = "setting"
        verbose_name_plural = "settings"

    def __str__(self) -> str:
        return self.name


class VerifierQualification(models.Model):
    """How a server's model did as verifier, by the version of prompt and labelled pairs."""

    server = models.CharField(max_length=500)
    model = models.CharField(max_length=300)
    prompt_version = models.CharField(max_length=64)
    false_pairs = models.PositiveIntegerField()
    missed = models.PositiveIntegerField()
    faithful_pairs = models.PositiveIntegerField()
    refused = models.PositiveIntegerField()
    made_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ("server", "model", "prompt_version")
        verbose_name = "qualification of a verifier"
        verbose_name_plural = "qualifications of verifiers"
        constraints = (
            models.UniqueConstraint(
                fields=("server", "model", "prompt_version"), name="verifier_qualification_key"
            ),
        )

    def __str__(self) -> str:
        return f"{self.model} as verifier"


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
