"""Every exception of the product has one root."""

from __future__ import annotations

import ast
from pathlib import Path

from research.errors import PlumblineError

ROOT = Path(__file__).parents[1]


def test_no_exception_is_derived_from_exception_itself() -> None:
    strays = [
        f"{path.relative_to(ROOT)}: {node.name}"
        for folder in ("research", "dashboard", "plumbline", "config")
        for path in (ROOT / folder).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ClassDef)
        and any(ast.unparse(base) in {"Exception", "RuntimeError"} for base in node.bases)
        and node.name not in {PlumblineError.__name__, "_Changed"}
    ]
    assert strays == []
