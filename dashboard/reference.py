"""The settings in words: what `.env.example` and `docs/settings.md` are made from.

The knobs of a run come from `ResearchConfig`; what belongs to an installation stands here.
`.venv/bin/python -m dashboard.reference` writes both files.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from annotated_types import Ge, Gt, Le
from pydantic.fields import FieldInfo

from research.engine.config import ResearchConfig
from research.engine.knobs import extra

ROOT = Path(__file__).resolve().parent.parent

INSTALLATION = {
    "OPENAI_BASE_URL": "A server that speaks OpenAI's chat completions; OpenAI's own if not set.",
    "OPENAI_API_KEY": "Its key, where it wants one.",
    "RESEARCH_MODEL": "The model that plans, reads and writes; none: passages are quoted by code."
    " A provider before its name, as in openai:NAME, is left out. Also known as"
    " ORCHESTRATOR_MODEL.",
    "READER_MODEL": "The model that reads pages, which most calls are for; the research model if"
    " not set. Also known as SUBAGENT_MODEL.",
    "EVALUATOR_MODEL": "The model that judges each round; the research model if not set.",
    "EVAL_MODEL": "The model that marks finished reports; the evaluator if not set.",
    "MODEL_CONTEXT_TOKENS": "The model's window in tokens, where its server doesn't tell.",
    "MODEL_TIMEOUT_SECONDS": "The longest that one answer of the model may take; 120 if not set.",
    "MODEL_FIRST_TOKEN_SECONDS": "The longest until a streamed answer begins; 60 if not set.",
    "MODEL_CONCURRENCY": "Calls to the model's server at once; 4 if not set.",
    "MODEL_TEMPERATURE": "How freely the model writes; the server's own setting if not set.",
    "MODEL_PRICES": "Prices the model list lacks: MODEL=INPUT/OUTPUT in US dollars per million.",
    "REASONING_EFFORT": "low, medium or high, for models that think before they answer.",
    "LOCAL_MODEL_PORTS": "Loopback ports looked at for a model; 11434,8000,8080,1234 if not set.",
    "SEARCH_PROVIDER": "Searches by name, preferred first (documents, searxng, tavily, exa, brave,"
    " ddgs, wikipedia, arxiv, samples), or none: only DOCUMENTS, if there are any. If not set:"
    " documents, else what is configured below, else the web without a key (ddgs, wikipedia) where"
    " there is a network, else samples.",
    "DOCUMENTS": "Folders of documents (html, md, txt, csv, pdf, docx) to search, with commas"
    " between.",
    "UPLOADS_MAX_MB": "Megabytes of documents that one person may upload, and that one upload may"
    " hold; 1000 if not set.",
    "DOCUMENT_INDEX": "Where documents are indexed with PostgreSQL: database (if not set), or file:"
    " an SQLite file on each machine.",
    "SEARXNG_URL": "The address of a SearXNG whose JSON format is switched on.",
    "TAVILY_API_KEY": "A key for Tavily.",
    "EXA_API_KEY": "A key for Exa.",
    "BRAVE_API_KEY": "A key for Brave Search.",
    "TAVILY_URL": "Another address for Tavily's interface, such as a proxy's.",
    "EXA_URL": "The same for Exa.",
    "BRAVE_URL": "The same for Brave Search.",
    "WIKIPEDIA_URL": "Another wiki than https://{language}.wikipedia.org.",
    "ARXIV_URL": "Another address for arXiv's interface.",
    "DDGS_ENGINES": "Search engines that ddgs asks, in this order, with commas between.",
    "SEARCH_RATES": "Searches a second by provider, such as brave=20,tavily=10; 0 is no limit.",
    "SEARCH_AT_ONCE": "Searches under way at once at one provider; 4 if not set. Wikipedia and"
    " arXiv are asked one at a time, ddgs at most two.",
    "NETWORK_PROBE": "host:port that is tried, once and for a second at most, to see whether there"
    " is a network when nothing to search is configured; none: never. html.duckduckgo.com:443"
    " if not set.",
    "FETCH_ALLOW_PRIVATE_HOSTS": "host:port pairs on private networks that may be fetched.",
    "FETCH_ROBOTS": "Obey robots.txt; on if not set.",
    "FETCH_AT_ONCE": "Pages that one process fetches at once; 32 if not set.",
    "FETCH_AT_ONCE_PER_HOST": "Pages fetched at once from one host; 2 if not set.",
    "FETCH_INTERVAL_SECONDS": "Seconds between two requests to one host; 0.1 if not set. A"
    " robots.txt may ask for more.",
    "HOST": "The address that is served on; 127.0.0.1 if not set.",
    "PORT": "The port that is served on; 8000 if not set.",
    "PLUMBLINE_HOME": "The folder for database, index and keys; var/ in the checkout if not set.",
    "DATABASE_URL": "Another database than SQLite, such as postgres://user@host/name.",
    "REDIS_URL": "A Redis that carries messages between several web processes.",
    "SECRET_KEY": "Django's secret; made once and kept in the state folder if not set.",
    "ALLOWED_HOSTS": "Names and addresses that the pages may be asked for by, beside loopback"
    " and HOST, with commas between. With HOST=0.0.0.0 other machines need it.",
    "CSRF_TRUSTED_ORIGINS": "Addresses that forms may be sent from where a proxy serves the pages"
    " under another one, such as https://research.example.org, with commas between.",
    "SECURE_COOKIES": "Send cookies over https only: on behind a proxy with https; off if not set.",
    "TIME_ZONE": "The zone that times of day are shown in, such as Europe/Lisbon; UTC if not set.",
    "DEBUG": "Show the details of errors in the browser, for development only; off if not set.",
    "RESEARCH_SLOTS": "Runs that one process works on at once; 2 if not set.",
    "KEEP_RUNS_DAYS": "Days after which a run that has ended is deleted, looked at once an hour"
    " while Plumbline is served; 0, or not set: never.",
}


def env_example() -> str:
    """Every setting, commented out, with its default."""
    lines = [
        "# Settings of Plumbline. Copy to .env and uncomment what you need; the real",
        "# environment wins. Written by `python -m dashboard.reference`: do not edit by hand.",
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
    """The same as a page of the documentation."""
    lines = [
        "# Settings",
        "",
        "Written by `python -m dashboard.reference` from the one place where each setting is",
        "declared. Settings come from the environment or from `.env` (the file that",
        "`DEEPRESEARCH_ENV_FILE` names, else the nearest one upwards from the working folder).",
        "",
        "## Of an installation",
        "",
        "| name | what it is |",
        "| --- | --- |",
        *(f"| `{name}` | {help_text} |" for name, help_text in INSTALLATION.items()),
        "",
        "## Of a run",
        "",
        "Frozen in the run when it is asked; `--set NAME=VALUE` changes one for one run. A triple",
        "is for simple, ordinary and complex questions; one number is for all three.",
        "",
        "| name | default | range | what it does | also known as |",
        "| --- | --- | --- | --- | --- |",
    ]
    for name, info in ResearchConfig.model_fields.items():
        aliases = ", ".join(f"`{alias}`" for alias in extra(info)["aliases"])
        row = (f"`{name.upper()}`", f"`{_value(info.default)}`", _range(info), _help(info), aliases)
        lines.append("| " + " | ".join(row) + " |")
    return "\n".join(lines) + "\n"


def _help(info: FieldInfo) -> str:
    unit = extra(info)["unit"]
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
