"""Download of a run's report."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.http import content_disposition_header
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from dashboard.exports import FORMATS, NothingToExport, export_report
from dashboard.queries import queries
from dashboard.stored_texts import worded


@never_cache
@require_GET
def export_run(request: HttpRequest, public_id: str, extension: str) -> HttpResponse:
    run = queries.find_run(request.user, public_id)
    if extension not in FORMATS:
        raise Http404("no such format")
    try:
        written = export_report(run, FORMATS[extension])
    except NothingToExport as error:
        messages.error(request, worded(str(error)))
        return redirect("run", run.public_id)
    name = content_disposition_header(as_attachment=True, filename=written.filename)
    return HttpResponse(
        written.content,
        content_type=written.content_type,
        headers={"Content-Disposition": name, "X-Content-Type-Options": "nosniff"},
    )
