"""Reference of all settings: generates `.env.example` and `docs/settings.md`.

Run settings (knobs) are declared in `ResearchConfig`, installation settings described here.
`.venv/bin/python -m config.reference` writes both files.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from annotated_types import Ge, Gt, Le
from pydantic.fields import FieldInfo

from research.engine.config import ResearchConfig
from research.engine.knobs import knob_extra
from research.search.providers import PROVIDERS, declared_settings

ROOT = Path(__file__).resolve().parent.parent

INSTALLATION = {
    "OPENAI_BASE_URL": "Server that speaks OpenAI's chat completions; OpenAI's own if not set.",
    "OPENAI_API_KEY": "Its API key, if it needs one.",
    "RESEARCH_MODEL": "Model that plans, reads and writes; without one, code quotes passages. A"
    " provider prefix, as in openai:NAME, is ignored. Also known as ORCHESTRATOR_MODEL.",
    "READER_MODEL": "Model that reads pages, which takes most calls; the research model if not set."
    " Also known as SUBAGENT_MODEL.",
    "EVALUATOR_MODEL": "Model that assesses each round; the research model if not set.",
    "EVAL_MODEL": "Model that grades finished reports; the evaluator if not set.",
    "MODEL_CONTEXT_TOKENS": "Context window in tokens, if the server doesn't report it.",
    "MODEL_TIMEOUT_SECONDS": "Timeout of one model call; 120 if not set.",
    "MODEL_FIRST_TOKEN_SECONDS": "Timeout until a streamed answer begins; 60 if not set.",
    "MODEL_CONCURRENCY": "Concurrent calls to the model's server; 4 if not set. On PostgreSQL this"
    " and the next two apply to all processes together, else to each.",
    "MODEL_REQUESTS_PER_MINUTE": "Calls to the model's server in any minute; 0, or not set: any"
    " number.",
    "MODEL_TOKENS_PER_MINUTE": "Tokens of prompts and answers that the model's server handles in"
    " any minute; 0, or not set: any number.",
    "MODEL_TEMPERATURE": "Sampling temperature; the server's default if not set.",
    "MODEL_PRICES": "Prices of models missing from the built-in list: MODEL=INPUT/OUTPUT in US"
    " dollars per million tokens.",
    "REASONING_EFFORT": "low, medium or high, for reasoning models.",
    "LOCAL_MODEL_PORTS": "Loopback ports probed for models; 11434,8000,8080,1234 if not set.",
    "SEARCH_PROVIDER": f"Searches by name, preferred first (documents, {', '.join(PROVIDERS)},"
    " samples), or none: only DOCUMENTS, if there are any. If not set:"
    " documents, else the providers configured below, else the web without a key (ddgs, wikipedia)"
    " if there is a network, else samples.",
    "DOCUMENTS": "Folders of documents (html, md, txt, csv, pdf, docx) to search, separated by"
    " commas.",
    "UPLOADS_MAX_MB": "Megabytes of documents that one user may upload, and limit of one upload;"
    " 1000 if not set.",
    "DOCUMENT_INDEX": "Storage of the document index with PostgreSQL: database (if not set), or"
    " file: an SQLite file on each machine.",
    **{setting.name: setting.help for setting in declared_settings()},
    "SEARCH_RATES": "Rate limits in searches per second by provider, such as brave=20,tavily=10; 0"
    " is no limit.",
    "SEARCH_AT_ONCE": "Concurrent searches at one provider; 4 if not set. Wikipedia and arXiv are"
    " limited to one, ddgs to two.",
    "NETWORK_PROBE": "host:port to connect to, for a second at most, to detect a network if no"
    " search is configured; none: never. html.duckduckgo.com:443 if not set.",
    "FETCH_ALLOW_PRIVATE_HOSTS": "host:port pairs on private networks that may be fetched.",
    "FETCH_ROBOTS": "Obey robots.txt; on if not set.",
    "FETCH_AT_ONCE": "Concurrent fetches of one process; 32 if not set.",
    "FETCH_AT_ONCE_PER_HOST": "Concurrent fetches from one host; 2 if not set.",
    "FETCH_INTERVAL_SECONDS": "Rate limit: seconds between two requests to one host; 0.1 if not"
    " set. A robots.txt may require more.",
    "HOST": "Address to listen on; 127.0.0.1 if not set.",
    "PORT": "Port to listen on; 8000 if not set.",
    "OPEN_BROWSER": "Open the sign-in page in a browser if the server is started on a terminal of a"
    " machine with a display; on if not set.",
    "PLUMBLINE_HOME": "Folder of database, index and keys; var/ in the checkout, or"
    " ~/.local/share/plumbline of an installed package, if not set.",
    "DATABASE_URL": "Database to use instead of SQLite, such as postgres://user@host/name.",
    "SQLITE_SYNCHRONOUS": "full (if not set): what SQLite has committed survives a power loss;"
    " normal: faster, and a power loss can undo the last minutes, but damages nothing.",
    "REDIS_URL": "Redis that carries messages between several web processes.",
    "SECRET_KEY": "Django's secret key; generated and stored in the state folder if not set.",
    "ALLOWED_HOSTS": "Host names and addresses under which the pages may be requested, in addition"
    " to loopback and HOST, separated by commas. Other machines need it with HOST=0.0.0.0.",
    "CSRF_TRUSTED_ORIGINS": "Origins from which forms are accepted if a proxy serves the pages"
    " under another address, such as https://research.example.org, separated by commas.",
    "SECURE_COOKIES": "Send cookies over https only: on behind a proxy with https; off if not set.",
    "PUBLIC_URL": "Address under which people open the pages, for links in e-mails and webhooks,"
    " such as https://research.example.org; http://127.0.0.1 with PORT if not set.",
    "EMAIL_URL": "Mail server for notifications, such as smtp+tls://USER:PASSWORD@HOST:587 or"
    " smtp+ssl://USER:PASSWORD@HOST:465, with special characters percent-encoded; not set: no"
    " e-mails.",
    "EMAIL_FROM": "Sender of e-mails, such as Plumbline <research@example.org>; plumbline@localhost"
    " if not set.",
    "TIME_ZONE": "Time zone of displayed times, such as Europe/Lisbon; UTC if not set.",
    "DEBUG": "Show error details in the browser, for development only; off if not set.",
    "METRICS_TOKEN": "Bearer token that /metrics asks for; if not set, metrics are served to this"
    " machine only.",
    "LOG_FORMAT": "Format of the log on standard error: text (if not set) or json, one object per"
    " line with the id of the run.",
    "API_REQUESTS_PER_MINUTE": "Rate limit of the API: requests per minute and token; 1200 if not"
    " set.",
    "RESEARCH_SLOTS": "Runs that one process executes concurrently; 2 if not set.",
    "RUNS_PER_PERSON": "Runs of one person that all processes together execute concurrently; 0: any"
    " number. 4 if not set.",
    "RUNS_AT_ONCE": "Runs that all processes together execute concurrently; 0, or not set: as many"
    " as their RESEARCH_SLOTS allow.",
    "QUEUE_LIMIT": "Waiting runs above which further questions are refused, except from people"
    " who have fewer than their share in the queue; 0: any number. 1000 if not set.",
    "DRAIN_SECONDS": "Seconds that calls in flight may still take after `manage.py worker` is told"
    " to stop; 30 if not set.",
    "KEEP_RUNS_DAYS": "Days after which an ended run is deleted, checked once an hour by the"
    " server; 0, or not set: never.",
}


def env_example() -> str:
    """Return `.env.example`: every setting, commented out, with its default."""
    lines = [
        "# Settings of Plumbline. Copy to .env and uncomment what you need; the real",
        "# environment wins. Written by `python -m config.reference`: do not edit by hand.",
        "",
        "# --- this installation",
    ]
    for name, help_text in INSTALLATION.items():
        lines += ["", f"# {help_text}", f"# {name}="]
    lines += ["", "# --- how research is done (frozen in each run)"]
    for name, info in ResearchConfig.model_fields.items():
        lines += ["", f"# {_help(info)}", f"# {name.upper()}={_value(info.default)}"]
    return "\n".join(lines) + "\n"


def settings_page() -> str:
    """Return the same settings as a Markdown page."""
    lines = [
        "# Settings",
        "",
        "Written by `python -m config.reference` from the one place where each setting is",
        "declared. Settings come from the environment or from `.env` (the file that",
        "`DEEPRESEARCH_ENV_FILE` names, else the nearest one in the working folder or above).",
        "",
        "## Of an installation",
        "",
        "| name | meaning |",
        "| --- | --- |",
        *(f"| `{name}` | {help_text} |" for name, help_text in INSTALLATION.items()),
        "",
        "## Of a run",
        "",
        "Frozen when the run is created; `--set NAME=VALUE` overrides one for one run. A triple",
        "applies to simple, ordinary and complex questions; one number applies to all three.",
        "",
        "| name | default | range | meaning | also known as |",
        "| --- | --- | --- | --- | --- |",
    ]
    for name, info in ResearchConfig.model_fields.items():
        aliases = ", ".join(f"`{alias}`" for alias in knob_extra(info)["aliases"])
        row = (f"`{name.upper()}`", f"`{_value(info.default)}`", _range(info), _help(info), aliases)
        lines.append("| " + " | ".join(row) + " |")
    return "\n".join(lines) + "\n"


def _help(info: FieldInfo) -> str:
    unit = knob_extra(info)["unit"]
    return f"{info.description} ({unit})" if unit else str(info.description)


def _value(value: Any) -> str:
    if isinstance(value, tuple):
        return ",".join(str(part) for part in value)
    if isinstance(value, bool):
        return "on" if value else "off"
    return "" if value is None else str(value)


def _range(info: FieldInfo) -> str:
    return " ".join(_bounds(info))


def _bounds(info: FieldInfo) -> Iterator[str]:
    for rule in info.metadata:
        if isinstance(rule, Ge):
            yield f"≥ {rule.ge}"
        elif isinstance(rule, Gt):
            yield f"> {rule.gt}"
        elif isinstance(rule, Le):
            yield f"≤ {rule.le}"


FILES = {ROOT / ".env.example": env_example, ROOT / "docs" / "settings.md": settings_page}


def main() -> None:
    for path, made in FILES.items():
        path.write_text(made(), encoding="utf-8")


if __name__ == "__main__":
    main()
