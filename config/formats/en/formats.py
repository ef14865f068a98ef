"""Day before month, without ambiguity between countries."""

DATE_FORMAT = "j M Y"
YEAR_MONTH_FORMAT = "M Y"
DATETIME_FORMAT = "j M Y, H:i"
TIME_FORMAT = "H:i"
