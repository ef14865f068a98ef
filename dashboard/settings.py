"""Django's settings; every value that can be changed comes from `dashboard.environment`."""

from __future__ import annotations

from pathlib import Path

from dashboard import environment

ENV_FILE = environment.load_env_file()

BASE_DIR = Path(__file__).resolve().parent.parent
STATE_DIR = environment.state_folder(BASE_DIR / "var")

SECRET_KEY = environment.secret_key(STATE_DIR)
DEBUG = environment.boolean("DEBUG")
HOST = environment.text("HOST", "127.0.0.1")
PORT = environment.port("PORT", 8000)
ALLOWED_HOSTS = ["127.0.0.1", "localhost", "[::1]", *environment.texts("ALLOWED_HOSTS")]
CSRF_TRUSTED_ORIGINS = environment.texts("CSRF_TRUSTED_ORIGINS")

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
    "dashboard.middleware.StaticFiles",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.auth.middleware.LoginRequiredMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
]
ROOT_URLCONF = "dashboard.urls"
ASGI_APPLICATION = "dashboard.asgi.application"
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
        },
    }
]

DATABASES = {"default": environment.database(STATE_DIR)}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
REDIS_URL = environment.address("REDIS_URL", ("redis", "rediss"))
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

# Cookies are shared by all ports of a host; names of our own keep neighbours apart.
SESSION_COOKIE_NAME = "plumbline_session"
CSRF_COOKIE_NAME = "plumbline_csrf"
SECURE_COOKIES = environment.boolean("SECURE_COOKIES")
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
USE_I18N = False
USE_TZ = True
TIME_ZONE = environment.text("TIME_ZONE", "UTC")

# Of a form without its files; `dashboard.body_limits` says what a whole request may hold.
DATA_UPLOAD_MAX_MEMORY_SIZE = 1024 * 1024
DATA_UPLOAD_MAX_NUMBER_FILES = 500

STATIC_URL = "/static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
WHITENOISE_USE_FINDERS = True
WHITENOISE_ALLOW_ALL_ORIGINS = False

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "short": {"format": "{asctime} {levelname} {name}: {message}", "style": "{"},
    },
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "short"}},
    "root": {"handlers": ["stderr"], "level": "WARNING"},
    "loggers": {
        "django": {"handlers": [], "level": "WARNING", "propagate": True},
        "research": {"level": "INFO"},
        "dashboard": {"level": "INFO"},
    },
}

# The engine's own settings, read by `research.assembly`.
RESEARCH_DEFAULTS = environment.research_defaults()
OPENAI_BASE_URL = environment.address("OPENAI_BASE_URL", ("http", "https"))
OPENAI_API_KEY = environment.text("OPENAI_API_KEY")
RESEARCH_MODEL = environment.model("RESEARCH_MODEL", "ORCHESTRATOR_MODEL")
READER_MODEL = environment.model("READER_MODEL", "SUBAGENT_MODEL")
EVALUATOR_MODEL = environment.model("EVALUATOR_MODEL")
EVAL_MODEL = environment.model("EVAL_MODEL")
MODEL_CONTEXT_TOKENS = environment.count("MODEL_CONTEXT_TOKENS", 0, least=0) or None
MODEL_TIMEOUT_SECONDS = environment.seconds("MODEL_TIMEOUT_SECONDS", 120)
MODEL_FIRST_TOKEN_SECONDS = environment.seconds("MODEL_FIRST_TOKEN_SECONDS", 60)
MODEL_CONCURRENCY = environment.count("MODEL_CONCURRENCY", 4)
MODEL_TEMPERATURE = environment.optional_number("MODEL_TEMPERATURE")
MODEL_PRICES = environment.prices("MODEL_PRICES")
REASONING_EFFORT = environment.text("REASONING_EFFORT")
LOCAL_MODEL_PORTS = environment.ports("LOCAL_MODEL_PORTS", (11434, 8000, 8080, 1234))
SEARCH_PROVIDER = environment.text("SEARCH_PROVIDER")
DOCUMENTS = environment.folders("DOCUMENTS")
UPLOADS_MAX_MB = environment.count("UPLOADS_MAX_MB", 1_000)
DOCUMENT_INDEX = environment.one_of("DOCUMENT_INDEX", ("database", "file"))
PROVIDERS = environment.providers()
NETWORK_PROBE = environment.text("NETWORK_PROBE", "html.duckduckgo.com:443")
FETCH_ALLOW_PRIVATE_HOSTS = environment.texts("FETCH_ALLOW_PRIVATE_HOSTS")
FETCH_ROBOTS = environment.boolean("FETCH_ROBOTS", True)
FETCH_AT_ONCE = environment.count("FETCH_AT_ONCE", 32)
FETCH_AT_ONCE_PER_HOST = environment.count("FETCH_AT_ONCE_PER_HOST", 2)
FETCH_INTERVAL_SECONDS = environment.number("FETCH_INTERVAL_SECONDS", 0.1)
RESEARCH_SLOTS = environment.count("RESEARCH_SLOTS", 2)
KEEP_RUNS_DAYS = environment.count("KEEP_RUNS_DAYS", 0, least=0, most=36_500)
