"""Day before month in words, without ambiguity between countries; reports write dates likewise."""

DATE_FORMAT = "j F Y"
YEAR_MONTH_FORMAT = "F Y"
DATETIME_FORMAT = "j F Y, H:i"
TIME_FORMAT = "H:i"
