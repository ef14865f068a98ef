#!/bin/sh
# Usage: environment.sh LOCK: make .venv from a lock file, unless it holds just that already.
# PYTHON names the interpreter to make it with; else the first fit one of those below.
set -eu
lock=$1

if [ -z "${PYTHON:-}" ] && [ -x .venv/bin/python ] && cmp -s "$lock" ".venv/$lock"; then
    exit 0
fi

is_new_enough() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; }
can_make_venv() { "$1" -c 'import ensurepip, venv' 2>/dev/null; }

candidates=${PYTHON:-python3.13 python3.12 python3.11 python3}
without_venv=
for python in $candidates; do
    is_new_enough "$python" || continue
    if can_make_venv "$python"; then
        exec "$python" scripts/environment.py "$lock" ${PYTHON:+--same-python}
    fi
    without_venv=${without_venv:-$python}
done

if [ -n "$without_venv" ]; then
    version=$("$without_venv" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    cat >&2 <<TEXT
Plumbline can't make its environment: $without_venv lacks the modules venv and ensurepip (pip).
  Debian, Ubuntu:  sudo apt install python3-venv    (or python$version-venv)
Then run the same command again.
TEXT
else
    cat >&2 <<TEXT
Plumbline needs Python 3.11 or newer. Looked for: $candidates.
  Found: $("${PYTHON:-python3}" --version 2>&1 | head -n 1)
  Debian 12, Ubuntu 24.04 or newer:  sudo apt install python3 python3-venv
  macOS:                             brew install python@3.13
Or name one that you have:  make install PYTHON=/path/to/python3
TEXT
fi
exit 1
