"""The house rules that a machine can check: which way imports run, sizes, and what must never be written down."""

from __future__ import annotations

import ast
import functools
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "videohv"
FILES = sorted(PACKAGE.rglob("*.py"))

BASE = {"types", "errors", "paths"}
MAY_IMPORT: dict[str, set[str]] = {
    "types": {"errors"},
    "errors": set(),
    "paths": set(),
    "samples": BASE,
    "signatures": BASE,
    "video": BASE,
    "data": BASE,
    "lm": BASE,
    "captioners": BASE | {"video", "data"},
    "modules": BASE | {"signatures", "captioners", "video", "data", "lm"},
    "compiled": BASE | {"modules", "data", "lm"},
    "optimize": BASE | {"modules", "compiled", "data", "lm", "evaluate", "video"},
    "evaluate": BASE | {"modules", "compiled", "data", "video", "lm"},
    "report": BASE | {"evaluate", "compiled", "modules", "data", "video"},
    "api": BASE | {"lm", "modules", "video"},
    "__main__": {"cli"},
    "app": BASE | {"report", "evaluate", "compiled", "modules", "captioners", "data", "video", "lm"},
    "track": BASE | {"report", "evaluate", "optimize", "compiled", "data", "lm"},
    "batch": BASE | {"modules", "data", "video", "lm"},
    "cli": BASE
    | {
        "api",
        "app",
        "batch",
        "compiled",
        "evaluate",
        "optimize",
        "report",
        "track",
        "modules",
        "captioners",
        "video",
        "data",
        "lm",
        "samples",
    },
}
"""Package (or file) of videohv: what it may import of videohv beside itself. Arrows run one way; there is no circle."""


@functools.cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def home(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_run_one_way(path: Path) -> None:
    here = home(path)
    if here == "__init__":
        return
    for node in ast.walk(parsed(path)):
        names = [node.module] if isinstance(node, ast.ImportFrom) and node.module else []
        names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.module == "videohv":
            names = [f"videohv.{alias.name}" for alias in node.names]
        for name in names:
            if name.startswith("videohv."):
                other = name.split(".")[1]
                assert other == here or other in MAY_IMPORT[here], f"{path.relative_to(ROOT)} imports {name}"


def test_the_arrows_have_no_circle() -> None:
    left = {name: set(others) for name, others in MAY_IMPORT.items()}
    while left:
        free = {name for name, others in left.items() if not others & set(left)}
        assert free, f"circle among {sorted(left)}"
        left = {name: others for name, others in left.items() if name not in free}


@pytest.mark.parametrize(
    "package",
    ["decord", "xllamacpp", "onnxruntime", "rapidocr", "openai", "keyring", "datasets", "pyarrow", "pysubs2", "optuna"],
)
def test_heavy_packages_are_imported_lazily(package: str) -> None:
    for path in FILES:
        for node in parsed(path).body:
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            assert package not in {name.split(".")[0] for name in names}, f"{path.relative_to(ROOT)} at the top"


def test_decord_is_imported_in_one_place() -> None:
    importing = [
        p for p in FILES if re.search(r"^\s*(import|from) decord\b", p.read_text(encoding="utf-8"), re.MULTILINE)
    ]
    assert len(importing) == 1


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_a_file_holds_one_idea(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 300


def tracked() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False).stdout
    return [ROOT / name for name in listed.split("\0") if name]


def test_nothing_names_a_machine_or_a_package_host() -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    wrong = re.compile(r"""["'( =]/(?:root|home|tmp|work|opt|mnt)/[a-z]|files\.pythonhosted|//pypi\.|registry\.npmjs""")
    for path in tracked():
        if (
            path.suffix in {".py", ".md", ".toml", ".txt", ".yml", ".html", ""}
            and path.is_file()
            and path != Path(__file__)
        ):
            for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), start=1):
                assert not wrong.search(line), f"{path.relative_to(ROOT)}:{number}: {line.strip()[:80]}"
