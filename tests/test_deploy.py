"""The files for containers and systemd name what there is."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from config import reference
from research.engine.config import ResearchConfig

ROOT = Path(__file__).resolve().parents[1]
DEPLOY = ROOT / "deploy"
CONTAINER = (DEPLOY / "Containerfile").read_text()
COMPOSE = (DEPLOY / "compose.yaml").read_text()
OF_OTHERS = {"POSTGRES_PASSWORD", "SEARXNG_SECRET"}
UNITS = sorted((DEPLOY / "systemd").iterdir())


def test_the_image_has_all_that_runs_and_nothing_else() -> None:
    copied = re.findall(r"^COPY (?!--)(.+) \S+$", CONTAINER, re.MULTILINE)
    names = {name for line in copied for name in line.split()}
    assert {name for name in names if not (ROOT / name).exists()} == set()
    assert {"config", "dashboard", "research", "static", "templates", "manage.py"} <= names
    allowed = re.findall(r"^!(\S+)$", (ROOT / ".dockerignore").read_text(), re.MULTILINE)
    assert set(allowed) == names


def test_settings_of_the_environment_files_exist() -> None:
    example = (DEPLOY / "plumbline.env.example").read_text()
    named = re.findall(r"^([A-Z_]+)=", example, re.MULTILINE)
    anchored = COMPOSE.split("environment: &environment")[1].split("volumes:")[0]
    named += re.findall(r"^ +([A-Z_]+):", anchored, re.MULTILINE)
    known = {
        *reference.installation_settings(),
        *(name.upper() for name in ResearchConfig.model_fields),
    }
    assert len(named) > 8 and set(named) - known == OF_OTHERS
    assert set(re.findall(r"\$\{([A-Z_]+):", COMPOSE)) == OF_OTHERS


def test_no_image_names_the_host_of_a_registry() -> None:
    images = re.findall(r"image: (\S+)", COMPOSE) + re.findall(r"PYTHON_IMAGE=(\S+)", CONTAINER)
    hosts = [image.split("/")[0] for image in images if "/" in image]
    assert len(images) == 5 and not [host for host in hosts if "." in host or ":" in host]


@pytest.mark.subprocess
@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="needs systemd-analyze")
@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_systemd_accepts_the_units(unit: Path, tmp_path: Path) -> None:
    """With programs that exist on this machine, as systemd looks for them."""
    for each in UNITS:
        text = re.sub(r"/opt/plumbline/\S+/python", "/usr/bin/env", each.read_text())
        (tmp_path / each.name).write_text(text.replace("/opt/plumbline\n", "/tmp\n"))
    name = unit.name.replace("@.", "@1.")
    done = subprocess.run(
        ["systemd-analyze", "verify", f"./{name}"], cwd=tmp_path, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
