"""Django's settings. Each reader of `config.environment` declares the setting that it reads."""

from __future__ import annotations

from pathlib import Path

from config import environment
from research.search.providers import MODULES

ENV_FILE = environment.load_env_file()

BASE_DIR = Path(__file__).resolve().parent.parent
STATE_DIR = environment.state_folder(environment.default_state_folder(BASE_DIR))

SECRET_KEY = environment.secret_key(STATE_DIR)
DEBUG = environment.read_boolean(
    "DEBUG",
    help="Show error details in the browser, for development only.",
)
HOST = environment.read_string(
    "HOST",
    "127.0.0.1",
    help="Address to listen on.",
)
PORT = environment.read_port(
    "PORT",
    8000,
    help="Port to listen on.",
)
OPEN_BROWSER = environment.read_boolean(
    "OPEN_BROWSER",
    default=True,
    help="Open the sign-in page in a browser if the server is started on a terminal "
    "of a machine with a display.",
)
HAS_DISPLAY = environment.has_display()
ALLOWED_HOSTS = [
    "127.0.0.1",
    "localhost",
    "[::1]",
    *environment.read_list(
        "ALLOWED_HOSTS",
        help="Host names and addresses under which the pages may be requested, in "
        "addition to loopback and HOST, separated by commas. Other machines need it "
        "with HOST=0.0.0.0.",
    ),
]
CSRF_TRUSTED_ORIGINS = environment.read_list(
    "CSRF_TRUSTED_ORIGINS",
    help="Origins from which forms are accepted if a proxy serves the pages under "
    "another address, such as https://research.example.org, separated by commas.",
)

INSTALLED_APPS = [
    "dashboard",
    "research",
    "channels",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.humanize",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django_htmx",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "dashboard.middleware.content_security_policy",
    "dashboard.static_files.StaticFiles",
    "dashboard.middleware.CompressedPages",
    "dashboard.middleware.errors_for_programs",
    "dashboard.api.rate_limits.rate_limit_headers",
    "dashboard.middleware.refuse_nul",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "dashboard.middleware.InterfaceLanguage",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.auth.middleware.LoginRequiredMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
]
ROOT_URLCONF = "config.urls"
ASGI_APPLICATION = "config.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
            "builtins": ["django.templatetags.i18n", "django.templatetags.l10n"],
        },
    }
]

DATABASES = {"default": environment.read_database(STATE_DIR)}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
REDIS_URL = environment.read_url(
    "REDIS_URL",
    ("redis", "rediss"),
    help="Redis that carries messages between several web processes.",
)
CACHES = {"default": environment.read_cache(REDIS_URL)}
CHANNEL_LAYERS = {"default": environment.channel_layer(REDIS_URL)}

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
LOGIN_URL = "sign_in"
LOGIN_REDIRECT_URL = "ask"
LOGOUT_REDIRECT_URL = "sign_in"

# Cookies are shared by all ports of a host; distinct names avoid clashes with other services.
SESSION_COOKIE_NAME = "plumbline_session"
CSRF_COOKIE_NAME = "plumbline_csrf"
SECURE_COOKIES = environment.read_boolean(
    "SECURE_COOKIES",
    help="Send cookies over https only: on behind a proxy with https.",
)
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SECURE_COOKIES
CSRF_FAILURE_VIEW = "dashboard.views.errors.csrf_failure"
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)

LANGUAGE_CODE = "en"
USE_I18N = True
# A wheel has the catalogues in the app's folder.
LOCALE_PATHS = [
    folder for folder in (BASE_DIR / "locale", BASE_DIR / "dashboard" / "locale") if folder.is_dir()
]
LANGUAGES = environment.find_languages(LOCALE_PATHS)
LANGUAGE_COOKIE_NAME = "plumbline_language"
LANGUAGE_COOKIE_AGE = 365 * 86_400
LANGUAGE_COOKIE_SAMESITE = "Lax"
LANGUAGE_COOKIE_SECURE = SECURE_COOKIES
FORMAT_MODULE_PATH = "config.formats"
USE_TZ = True
TIME_ZONE = environment.read_string(
    "TIME_ZONE",
    "UTC",
    help="Time zone of displayed times, such as Europe/Lisbon.",
)

# Limit of a form without its files; `dashboard.serving.body_limits` limits the whole request.
DATA_UPLOAD_MAX_MEMORY_SIZE = 1024 * 1024
DATA_UPLOAD_MAX_NUMBER_FILES = 500

STATIC_URL = "/static/"
# A wheel has them in the app's folder, where Django looks by itself.
STATICFILES_DIRS = [folder for folder in (BASE_DIR / "static",) if folder.is_dir()]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "uploads": environment.read_upload_storage(
        help="Django storage class of uploaded documents, such as storages.backends.s3.S3Storage, "
        "which several machines can share; the state folder if not set.",
        options_help='Its options as a JSON object; {"location": "/srv/shared"} with the class '
        "that is used if none is set.",
    ),
    "staticfiles": {"BACKEND": "dashboard.static_files.HashedStorage"},
}
WHITENOISE_USE_FINDERS = True
WHITENOISE_ALLOW_ALL_ORIGINS = False

LOG_FORMAT = environment.one_of(
    "LOG_FORMAT",
    ("text", "json"),
    help="Format of the log on standard error: text or json, one object "
    "per line with the id of the run.",
)
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "text": {"format": "{asctime} {levelname} {name}: {message}", "style": "{"},
        "json": {"()": "research.operations.logs.JsonFormatter"},
    },
    "handlers": {
        "stderr": {"class": "research.operations.logs.FaultHandler", "formatter": LOG_FORMAT}
    },
    "root": {"handlers": ["stderr"], "level": "WARNING"},
    "loggers": {
        "django": {"handlers": [], "level": "WARNING", "propagate": True},
        "research": {"level": "INFO"},
        "dashboard": {"level": "INFO"},
    },
}

# Settings of research, read by `research.runtime`.
RESEARCH_DEFAULTS = environment.research_defaults()
OPENAI_BASE_URL = environment.read_url(
    "OPENAI_BASE_URL",
    ("http", "https"),
    help="Server that speaks OpenAI's chat completions; OpenAI's own if not set.",
    label="Server address",
    hint="Any server with OpenAI’s chat completions; usually ends in /v1. Empty: OpenAI itself.",
)
OPENAI_API_KEY = environment.read_key(
    "OPENAI_API_KEY",
    help="Its API key, if it needs one.",
    label="API key",
)
RESEARCH_MODEL = environment.read_model_name(
    "RESEARCH_MODEL",
    "ORCHESTRATOR_MODEL",
    help="Model that plans, reads and writes; without one, code quotes passages. A "
    "provider prefix, as in openai:NAME, is ignored.",
    label="Model",
    hint="Plans, reads and writes. Empty: passages are quoted instead.",
)
READER_MODEL = environment.read_model_name(
    "READER_MODEL",
    "SUBAGENT_MODEL",
    help="Model that reads pages, which takes most calls; the research model if not set.",
    label="Model that reads pages",
    hint="Makes most of the calls; a cheaper model often works. Empty: the same model.",
)
EVALUATOR_MODEL = environment.read_model_name(
    "EVALUATOR_MODEL",
    help="Model that assesses each round; the research model if not set.",
    label="Model that judges each round",
    hint="A cheaper model often works. Empty: the same model.",
)
EVAL_MODEL = environment.read_model_name(
    "EVAL_MODEL",
    help="Model that grades finished reports; the evaluator if not set.",
)
EMBEDDING_MODEL = environment.read_model_name(
    "EMBEDDING_MODEL",
    help="Embedding model that ranks documents by meaning, too; without one, by words alone.",
    label="Embedding model",
    hint="Finds documents that say it in other words; their passages are sent to its server."
    " Empty: documents are ranked by words alone.",
)
EMBEDDING_BASE_URL = environment.read_url(
    "EMBEDDING_BASE_URL",
    ("http", "https"),
    help="Its server, if that is not the model's; it must speak OpenAI's embeddings.",
)
EMBEDDING_API_KEY = environment.read_key(
    "EMBEDDING_API_KEY",
    help="API key of EMBEDDING_BASE_URL, if it needs one.",
)
MODEL_CONTEXT_TOKENS = (
    environment.read_count(
        "MODEL_CONTEXT_TOKENS",
        0,
        least=0,
        help="Context window in tokens, if the server doesn't report it.",
        label="Context window",
        hint="How many tokens the model takes at once, such as 16384. Empty: as its server reports."
        " Deleted with another model or server.",
    )
    or None
)
MODEL_TIMEOUT_SECONDS = environment.read_seconds(
    "MODEL_TIMEOUT_SECONDS",
    120,
    help="Timeout of one model call.",
)
MODEL_FIRST_TOKEN_SECONDS = environment.read_seconds(
    "MODEL_FIRST_TOKEN_SECONDS",
    60,
    help="Timeout until a streamed answer begins.",
)
MODEL_CONCURRENCY = environment.read_count(
    "MODEL_CONCURRENCY",
    4,
    help="Concurrent calls to the model's server. On PostgreSQL this "
    "and the next two apply to all processes together, else to each.",
)
MODEL_REQUESTS_PER_MINUTE = environment.read_count(
    "MODEL_REQUESTS_PER_MINUTE",
    0,
    least=0,
    help="Calls to the model's server in any minute; 0, or not set: any number.",
)
MODEL_TOKENS_PER_MINUTE = environment.read_count(
    "MODEL_TOKENS_PER_MINUTE",
    0,
    least=0,
    help="Tokens of prompts and answers that the model's server handles in any "
    "minute; 0, or not set: any number.",
)
MODEL_TEMPERATURE = environment.optional_number(
    "MODEL_TEMPERATURE",
    help="Sampling temperature; the server's default if not set.",
)
MODEL_PRICES = environment.read_prices(
    "MODEL_PRICES",
    help="Prices of models missing from the built-in list: MODEL=INPUT/OUTPUT in US "
    "dollars per million tokens.",
    label="Prices",
    hint="US dollars per million tokens of prompts and answers, such as small=0.10/0.40, with"
    " commas between models. Needed for models that Plumbline knows no price of.",
)
REASONING_EFFORT = environment.read_string(
    "REASONING_EFFORT",
    help="low, medium or high, for reasoning models.",
)
LOCAL_MODEL_PORTS = environment.read_ports(
    "LOCAL_MODEL_PORTS",
    (11434, 8000, 8080, 1234),
    help="Loopback ports probed for models.",
)
SEARCH_PROVIDER = environment.read_string(
    "SEARCH_PROVIDER",
    help=f"Searches by name, preferred first (documents, {', '.join(MODULES)}, samples), or none:"
    " only DOCUMENTS, if there are any. If not set: documents, else the providers configured below,"
    " else the web without a key (ddgs, wikipedia) if there is a network, else samples.",
    label="Search",
    hint="Providers, preferred first, separated by commas. Empty: those that are set up.",
)
DOCUMENTS = environment.read_folders(
    "DOCUMENTS",
    help="Folders of documents (html, md, txt, csv, pdf, docx) to search, separated by commas.",
)
UPLOADS_MAX_MB = environment.read_count(
    "UPLOADS_MAX_MB",
    1_000,
    help="Megabytes of documents that one user may upload, and limit of one upload.",
)
DOCUMENT_INDEX = environment.one_of(
    "DOCUMENT_INDEX",
    ("database", "file"),
    help="Storage of the document index with PostgreSQL: database, or "
    "file: an SQLite file on each machine.",
)
PROVIDERS = environment.read_provider_settings()
NETWORK_PROBE = environment.read_string(
    "NETWORK_PROBE",
    "html.duckduckgo.com:443",
    help="host:port to connect to, for a second at most, to detect a network if no "
    "search is configured; none: never.",
)
FETCH_ALLOW_PRIVATE_HOSTS = environment.read_list(
    "FETCH_ALLOW_PRIVATE_HOSTS",
    help="host:port pairs on private networks that may be fetched.",
)
FETCH_ROBOTS = environment.read_boolean(
    "FETCH_ROBOTS",
    True,
    help="Obey robots.txt.",
)
FETCH_AT_ONCE = environment.read_count(
    "FETCH_AT_ONCE",
    32,
    help="Concurrent fetches of one process.",
)
FETCH_AT_ONCE_PER_HOST = environment.read_count(
    "FETCH_AT_ONCE_PER_HOST",
    2,
    help="Concurrent fetches from one host.",
)
FETCH_INTERVAL_SECONDS = environment.read_number(
    "FETCH_INTERVAL_SECONDS",
    0.1,
    help="Rate limit: seconds between two requests to one host. A robots.txt may require more.",
)
EMAIL_URL = environment.read_key(
    "EMAIL_URL",
    help="Mail server for notifications, such as smtp+tls://USER:PASSWORD@HOST:587 or "
    "smtp+ssl://USER:PASSWORD@HOST:465, with special characters percent-encoded; not set: no "
    "e-mails.",
)
EMAIL = environment.read_email(EMAIL_URL)
EMAIL_BACKEND = EMAIL["EMAIL_BACKEND"]
EMAIL_HOST = EMAIL["EMAIL_HOST"]
EMAIL_PORT = EMAIL["EMAIL_PORT"]
EMAIL_HOST_USER = EMAIL["EMAIL_HOST_USER"]
EMAIL_HOST_PASSWORD = EMAIL["EMAIL_HOST_PASSWORD"]
EMAIL_FILE_PATH = EMAIL["EMAIL_FILE_PATH"]
EMAIL_USE_TLS = EMAIL.get("EMAIL_USE_TLS", False)
EMAIL_USE_SSL = EMAIL.get("EMAIL_USE_SSL", False)
EMAIL_TIMEOUT = 20
DEFAULT_FROM_EMAIL = environment.read_string(
    "EMAIL_FROM",
    "plumbline@localhost",
    help="Sender of e-mails, such as Plumbline <research@example.org>.",
)
LOCAL_URL = f"http://127.0.0.1:{PORT}"
PUBLIC_URL = (
    environment.read_url(
        "PUBLIC_URL",
        ("http", "https"),
        help="Address under which people open the pages, for links in e-mails and webhooks and to "
        "shared reports, such as https://research.example.org; http://127.0.0.1 with PORT if not "
        "set.",
    )
    or LOCAL_URL
)
SHARE_REPORTS = environment.read_boolean(
    "SHARE_REPORTS",
    default=True,
    help="Let people make links to their finished reports, which anyone can read without an "
    "account; off also closes the links that were made.",
)
METRICS_TOKEN = environment.read_key(
    "METRICS_TOKEN",
    help="Bearer token that /metrics asks for; if not set, metrics are served to this"
    " machine only.",
)
API_REQUESTS_PER_MINUTE = environment.read_count(
    "API_REQUESTS_PER_MINUTE",
    1_200,
    help="Rate limit of the API and of /mcp: requests per minute and token.",
)
RESEARCH_SLOTS = environment.read_count(
    "RESEARCH_SLOTS",
    2,
    help="Runs that one process executes concurrently.",
)
RUNS_PER_PERSON = environment.read_count(
    "RUNS_PER_PERSON",
    4,
    least=0,
    help="Runs of one person that all processes together execute concurrently; 0: any number.",
)
RUNS_AT_ONCE = environment.read_count(
    "RUNS_AT_ONCE",
    0,
    least=0,
    help="Runs that all processes together execute concurrently; 0, or not set: as "
    "many as their RESEARCH_SLOTS allow.",
)
QUEUE_LIMIT = environment.read_count(
    "QUEUE_LIMIT",
    1_000,
    least=0,
    help="Waiting runs above which further questions are refused, except from people "
    "who have fewer than their share in the queue; 0: any number. 1000 if not "
    "set.",
)
DRAIN_SECONDS = environment.read_number(
    "DRAIN_SECONDS",
    30,
    help="Seconds that calls in flight may still take after `manage.py worker` receives SIGTERM.",
)
KEEP_RUNS_DAYS = environment.read_count(
    "KEEP_RUNS_DAYS",
    0,
    least=0,
    most=36_500,
    help="Days after which an ended run is deleted, checked once an hour by the "
    "server; 0, or not set: never.",
)

DECLARED_SETTINGS = environment.DECLARED
SETUP_SETTINGS = environment.setup_settings()
