"""The entry to every command of Plumbline."""

from __future__ import annotations

import gc
import os
import sys

# The default of 700 collects hundreds of times while modules are imported: a tenth of the start.
gc.set_threshold(20_000)

from django.core.exceptions import ImproperlyConfigured  # noqa: E402
from django.core.management import execute_from_command_line  # noqa: E402


def main() -> int:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
