"""Runs of this installation, as the local admin."""

from __future__ import annotations

import asyncio
from typing import Any

from django.core.exceptions import PermissionDenied

from dashboard.command_line.output import BadUseError
from dashboard.exports import FORMATS, Exported, NothingToExportError, export_report
from research.engine.records import Status
from research.models import Run
from research.readmodel.run_json import run_resource
from research.runtime.schema import migrate_database
from research.services import ServiceError, deleting, people, runs


class LocalRuns:
    """The runs of the database; every method raises `BadUseError` with a sentence for the user."""

    def __init__(self) -> None:
        migrate_database()
        self.actor = people.local_admin()

    def list(self, limit: int, text: str = "") -> list[dict[str, Any]]:
        """Return the newest runs whose question contains every word of `text`."""
        found = runs.visible_to(self.actor)
        for word in text.split():
            found = found.filter(question__icontains=word)
        return [
            {
                "id": run.public_id,
                "status": run.status,
                "score": run.quality_score,
                "created_at": run.created_at.isoformat(timespec="seconds"),
                "question": run.question,
            }
            for run in found[:limit]
        ]

    def show(self, public_id: str) -> dict[str, Any]:
        return run_resource(self.find(public_id))

    def export(self, public_id: str, form: str, *, with_quotes: bool) -> Exported:
        run = self.find(public_id)
        try:
            return export_report(run, FORMATS[form], with_quotes=with_quotes)
        except NothingToExportError as error:
            raise BadUseError(str(error)) from None

    def resume(self, public_id: str) -> str:
        """Take up a paused or stalled run again; return its status."""
        run = self.find(public_id)
        command = runs.retry_run if run.status == Status.STALLED else runs.resume_run
        return self._tell(command, run)

    def cancel(self, public_id: str) -> str:
        return self._tell(runs.request_cancel, self.find(public_id))

    def delete(self, public_id: str) -> None:
        self._tell(deleting.delete_run, self.find(public_id), refresh=False)

    def work(self, public_id: str, *, quiet: bool) -> Run:
        """Execute a run in this process to its end, and return it."""
        from research.runtime.terminal import Foreground

        foreground = Foreground(self.actor, self.find(public_id), None, quiet=quiet)
        return asyncio.run(foreground.work())

    def find(self, public_id: str) -> Run:
        run = runs.visible_to(self.actor).filter(public_id=public_id).first()
        if run is None:
            raise BadUseError(f"There is no run {public_id}.")
        return run

    def _tell(self, command: Any, run: Run, *, refresh: bool = True) -> str:
        try:
            command(self.actor, run)
        except (ServiceError, PermissionDenied) as refused:
            raise BadUseError(str(refused)) from None
        if refresh:
            run.refresh_from_db()
        return run.status
