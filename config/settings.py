"""Django's settings; every value that can be changed comes from `config.environment`."""

from __future__ import annotations

from pathlib import Path

from config import environment

ENV_FILE = environment.load_env_file()

BASE_DIR = Path(__file__).resolve().parent.parent
STATE_DIR = environment.state_folder(environment.default_state_folder(BASE_DIR))

SECRET_KEY = environment.secret_key(STATE_DIR)
DEBUG = environment.read_boolean("DEBUG")
HOST = environment.read_string("HOST", "127.0.0.1")
PORT = environment.read_port("PORT", 8000)
OPEN_BROWSER = environment.read_boolean("OPEN_BROWSER", default=True)
HAS_DISPLAY = environment.has_display()
ALLOWED_HOSTS = ["127.0.0.1", "localhost", "[::1]", *environment.read_list("ALLOWED_HOSTS")]
CSRF_TRUSTED_ORIGINS = environment.read_list("CSRF_TRUSTED_ORIGINS")

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
    "dashboard.api.rate_limits.rate_limit_headers",
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
REDIS_URL = environment.read_url("REDIS_URL", ("redis", "rediss"))
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
SECURE_COOKIES = environment.read_boolean("SECURE_COOKIES")
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
TIME_ZONE = environment.read_string("TIME_ZONE", "UTC")

# Limit of a form without its files; `dashboard.serving.body_limits` limits the whole request.
DATA_UPLOAD_MAX_MEMORY_SIZE = 1024 * 1024
DATA_UPLOAD_MAX_NUMBER_FILES = 500

STATIC_URL = "/static/"
# A wheel has them in the app's folder, where Django looks by itself.
STATICFILES_DIRS = [folder for folder in (BASE_DIR / "static",) if folder.is_dir()]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "dashboard.static_files.HashedStorage"},
}
WHITENOISE_USE_FINDERS = True
WHITENOISE_ALLOW_ALL_ORIGINS = False

LOG_FORMAT = environment.one_of("LOG_FORMAT", ("text", "json"))
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
OPENAI_BASE_URL = environment.read_url("OPENAI_BASE_URL", ("http", "https"))
OPENAI_API_KEY = environment.read_string("OPENAI_API_KEY")
RESEARCH_MODEL = environment.read_model_name("RESEARCH_MODEL", "ORCHESTRATOR_MODEL")
READER_MODEL = environment.read_model_name("READER_MODEL", "SUBAGENT_MODEL")
EVALUATOR_MODEL = environment.read_model_name("EVALUATOR_MODEL")
EVAL_MODEL = environment.read_model_name("EVAL_MODEL")
MODEL_CONTEXT_TOKENS = environment.read_count("MODEL_CONTEXT_TOKENS", 0, least=0) or None
MODEL_TIMEOUT_SECONDS = environment.read_seconds("MODEL_TIMEOUT_SECONDS", 120)
MODEL_FIRST_TOKEN_SECONDS = environment.read_seconds("MODEL_FIRST_TOKEN_SECONDS", 60)
MODEL_CONCURRENCY = environment.read_count("MODEL_CONCURRENCY", 4)
MODEL_REQUESTS_PER_MINUTE = environment.read_count("MODEL_REQUESTS_PER_MINUTE", 0, least=0)
MODEL_TOKENS_PER_MINUTE = environment.read_count("MODEL_TOKENS_PER_MINUTE", 0, least=0)
MODEL_TEMPERATURE = environment.optional_number("MODEL_TEMPERATURE")
MODEL_PRICES = environment.read_prices("MODEL_PRICES")
REASONING_EFFORT = environment.read_string("REASONING_EFFORT")
LOCAL_MODEL_PORTS = environment.read_ports("LOCAL_MODEL_PORTS", (11434, 8000, 8080, 1234))
SEARCH_PROVIDER = environment.read_string("SEARCH_PROVIDER")
DOCUMENTS = environment.read_folders("DOCUMENTS")
UPLOADS_MAX_MB = environment.read_count("UPLOADS_MAX_MB", 1_000)
DOCUMENT_INDEX = environment.one_of("DOCUMENT_INDEX", ("database", "file"))
PROVIDERS = environment.read_provider_settings()
NETWORK_PROBE = environment.read_string("NETWORK_PROBE", "html.duckduckgo.com:443")
FETCH_ALLOW_PRIVATE_HOSTS = environment.read_list("FETCH_ALLOW_PRIVATE_HOSTS")
FETCH_ROBOTS = environment.read_boolean("FETCH_ROBOTS", True)
FETCH_AT_ONCE = environment.read_count("FETCH_AT_ONCE", 32)
FETCH_AT_ONCE_PER_HOST = environment.read_count("FETCH_AT_ONCE_PER_HOST", 2)
FETCH_INTERVAL_SECONDS = environment.read_number("FETCH_INTERVAL_SECONDS", 0.1)
METRICS_TOKEN = environment.read_string("METRICS_TOKEN")
API_REQUESTS_PER_MINUTE = environment.read_count("API_REQUESTS_PER_MINUTE", 1_200)
RESEARCH_SLOTS = environment.read_count("RESEARCH_SLOTS", 2)
RUNS_PER_PERSON = environment.read_count("RUNS_PER_PERSON", 4, least=0)
RUNS_AT_ONCE = environment.read_count("RUNS_AT_ONCE", 0, least=0)
QUEUE_LIMIT = environment.read_count("QUEUE_LIMIT", 1_000, least=0)
DRAIN_SECONDS = environment.read_number("DRAIN_SECONDS", 30)
KEEP_RUNS_DAYS = environment.read_count("KEEP_RUNS_DAYS", 0, least=0, most=36_500)
