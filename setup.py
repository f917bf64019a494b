"""A wheel brings the workflow along, packed from the one place where it is: what `punchline init` unpacks."""

from collections.abc import Iterator
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

WORKFLOW = (
    *("Snakefile", "rules", "scripts", "profiles", "report", "config", "dvc.yaml", ".dvc", ".dvcignore", ".gitignore"),
    *(".gitattributes", "README.md", "LICENSE", "docs", "examples"),
    *("data/demo", "data/manifests", "data/locks", "data/replay/README.md"),
)
OWN = (".dvc/cache", ".dvc/tmp", ".dvc/config.local", "config/runs")  # the user's: no part of a wheel, but
OURS = ("config/runs/README.md", "config/runs/humorbench-released.yaml")


def files() -> Iterator[Path]:
    for name in WORKFLOW:
        for path in sorted(Path(name).rglob("*")) if Path(name).is_dir() else [Path(name)]:
            own = path.as_posix().startswith(OWN) and path.as_posix() not in OURS
            if path.is_file() and "__pycache__" not in path.parts and not own:
                yield path


class Packed(build_py):
    """Build the package with the workflow as its folder `template`."""

    def run(self) -> None:
        super().run()
        for path in () if self.editable_mode else files():
            target = Path(self.build_lib) / "punchline" / "template" / path
            target.parent.mkdir(parents=True, exist_ok=True)
            self.copy_file(str(path), str(target))

    def get_source_files(self) -> list[str]:
        """What a source distribution needs, so that a wheel can be built from it."""
        return [*super().get_source_files(), *(path.as_posix() for path in files())]


setup(cmdclass={"build_py": Packed})
