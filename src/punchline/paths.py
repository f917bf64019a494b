"""Paths of all files, relative to the project's root. No other module spells `data/` or `results/`.

Files that all runs share (published files, images, journals, adapters, models) are in `data/`. Files of one selection
are in the two folders of its run: `data/` and `results/` for the default run, `data/runs/NAME/` and
`results/runs/NAME/` for a named one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

DEFAULT_RUN = "default"  # of config/run.yaml

DATA = "data/"
MODELS_LOCK = "data/locks/models.lock.csv"
RAW = "data/raw"
JOURNALS = "data/responses"
VOTES = "data/ratings"
BATCHES = f"{JOURNALS}/batches"  # of the openai engine: batches in progress at a provider
SHARDS = "shards"  # folder of the journals of several jobs that ask one model or judge
MODELS = "data/models"
ADAPTERS = "data/adapters"
RUNS = ("data/runs", "results/runs")
PUBLISHED = "config/published"
LAST_RUN = ".punchline/run"  # name of the run that was made last

RECORD = ".made.json"  # suffix of provenance files (workflow/provenance.py)


def record_of(path: str) -> str:
    """The provenance file of an artifact."""
    return path + RECORD


def folder_of(path: str) -> str:
    """The folder of a file."""
    return path.rpartition("/")[0]


def manifest(benchmark: str, name: str = "annotations.csv") -> str:
    """A file of a benchmark's manifests."""
    return f"data/manifests/{benchmark}/{name}"


def demo(benchmark: str) -> str:
    """Folder of a benchmark's demo data, in the released formats."""
    return f"data/demo/{benchmark}"


def runs_of(benchmark: str) -> str:
    """Name of the manifest and the raw folder of the runs that a benchmark's authors released."""
    return f"{benchmark}_runs"


def published(benchmark: str) -> str:
    """The CSV of the values printed in a paper."""
    return f"{PUBLISHED}/{benchmark}.csv"


def own(benchmark: str, name: str) -> str:
    """A file that users may provide."""
    return f"config/{benchmark}/{name}"


def journal(benchmark: str, respondent: str, pass_: str = "") -> str:
    """A respondent's answers to a benchmark's requests, or to those of a pass, of all runs."""
    return f"{JOURNALS}/{_within(benchmark, pass_, respondent)}.jsonl"


def _within(*names: str) -> str:
    return "/".join(filter(None, names))


def shard_journal(journal: str, shard: str) -> str:
    """The journal of one of several jobs that ask the same respondent."""
    return f"{folder_of(journal)}/{SHARDS}/{Path(journal).stem}/{shard}.jsonl"


def journal_lock(journal: str) -> str:
    """The file of which a job that asks locks a range of bytes."""
    return f"{folder_of(journal)}/.{Path(journal).stem}.lock"


def with_shards(journal: str) -> list[str]:
    """A journal and the existing journals of its shards."""
    return [journal, *sorted(path.as_posix() for path in Path(shard_journal(journal, "")).parent.glob("*.jsonl"))]


def of_all_runs(path: str) -> list[str]:
    """Paths of one run's file below data/ in every run, its own first."""
    within = re.sub(f"^{RUNS[0]}/[^/]+/|^{DATA}", "", path)
    runs = [f"{run.as_posix()}/" for run in sorted(Path(RUNS[0]).glob("*"))]
    return list(dict.fromkeys([path, *(f"{folder}{within}" for folder in (DATA, *runs))]))


def votes(benchmark: str, name: str) -> str:
    """The file of a rating study: its sheet, its raters and their votes."""
    return f"{VOTES}/{benchmark}/{name}.sqlite"


def audited(run: str, name: str) -> str:
    """The result of the last audit of a table; outside the run's folders, so that an audit changes no run."""
    return f".punchline/audits/{run}/{name.removesuffix('.csv')}.json"


def adapter(name: str) -> str:
    """The manifest of a trained adapter."""
    return f"{ADAPTERS}/{name}/punchline.json"


@dataclass(frozen=True)
class Paths:
    """Paths of the files of one run."""

    raw_root: str = RAW  # of its corpus
    run: str = DEFAULT_RUN

    @property
    def data(self) -> str:
        """Folder of the run's files between published files and answers."""
        return "data" if self.run == DEFAULT_RUN else f"{RUNS[0]}/{self.run}"

    @property
    def results(self) -> str:
        """Folder of the run's scores and tables."""
        return "results" if self.run == DEFAULT_RUN else f"{RUNS[1]}/{self.run}"

    @property
    def logs(self) -> str:
        """Folder of the run's logs."""
        return "logs" if self.run == DEFAULT_RUN else f"logs/runs/{self.run}"

    # Shared by all runs of a corpus

    def raw(self, benchmark: str, name: str = "") -> str:
        """Folder of a benchmark's published files, or one of them."""
        return f"{self.raw_root}/{benchmark}" + (f"/{name}" if name else "")

    def pictures(self, benchmark: str) -> str:
        """Folder of the images that models see."""
        root = f"_/{self.raw_root}/"  # no name begins with _
        return f"data/images/{root.removeprefix(f'_/{RAW}/')}{benchmark}"

    # Of one selection

    def selected(self, benchmark: str) -> str:
        return f"{self.data}/items/{benchmark}/selected.csv"

    def fetch_log(self, benchmark: str) -> str:
        return f"{self.data}/items/{benchmark}/ledger.jsonl"

    def index(self, benchmark: str) -> str:
        """The images of each item."""
        return f"{self.data}/items/{benchmark}/pictures.jsonl"

    def items(self, benchmark: str) -> str:
        return f"{self.data}/items/{benchmark}/items.jsonl"

    def gold(self, benchmark: str) -> str:
        return f"{self.data}/items/{benchmark}/gold.jsonl"

    def requests(self, benchmark: str, model: str = "", pass_: str = "") -> str:
        """The requests about items, or those of a pass about, or to, one model."""
        return f"{self.data}/requests/{_within(benchmark, pass_, model)}.parquet"

    def responses(self, benchmark: str, model: str, pass_: str = "") -> str:
        """The answers to the current requests, about items or of a pass."""
        return f"{self.data}/responses/{_within(benchmark, pass_, model)}.parquet"

    def responded(self, respondent: str, shard: str) -> str:
        """The last output of a respondent's job: digests of its answers to all benchmarks."""
        return f"{self.data}/responses/respondents/{respondent}/{shard}.json"

    def scores(self, benchmark: str, model: str) -> str:
        return f"{self.results}/{benchmark}/scores/{model}.parquet"

    def table(self, name: str) -> str:
        """A table's CSV, named as a benchmark declares it: `table8.csv`, `yesbut/table2.csv`."""
        return f"{self.results}/{name}"

    def csv(self, name: str, benchmark: str = "") -> str:
        """A CSV beside the tables: of a benchmark (`ranks`, `items`), or over all of them (`cost`, `links`)."""
        return f"{self.results}/{_within(benchmark, name)}.csv"

    @property
    def report(self) -> str:
        """Folder of the report."""
        return f"{self.results}/report"

    def report_items(self, benchmark: str) -> str:
        """The list of a benchmark's items for the report; the items are in the same folder."""
        return f"{self.report}/items/{benchmark}/index.js"

    def report_answers(self, benchmark: str, model: str) -> str:
        """An overview of a model's answers for the report; the answers are in the same folder."""
        return f"{self.report}/answers/{benchmark}/{model}/index.js"

    @property
    def metrics(self) -> str:
        """Main values of every table, for `dvc metrics`; `metrics.csv`, one a line, for `dvc plots`."""
        return f"{self.results}/metrics.json"

    @property
    def selection(self) -> str:
        """The selection of the run's last call."""
        return f"{self.results}/run.json"
