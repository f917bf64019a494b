"""Where everything lies, relative to the project's root. No other module spells `data/` or `results/`.

What all runs share (published bytes, pictures, journals, adapters, models) lies in `data/` whatever the run; what is a
view of one selection lies below the run's own two folders: `data/` and `results/` for the default run,
`data/runs/NAME/` and `results/runs/NAME/` for a named one.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

DEFAULT_RUN = "default"  # of config/run.yaml

DATA = "data/"
MANIFESTS = "data/manifests"
MODELS_LOCK = "data/locks/models.lock.csv"
RAW = "data/raw"
IMAGES = "data/images"
JOURNALS = "data/responses"
VOTES = "data/ratings"
BATCHES = f"{JOURNALS}/batches"  # of the openai engine: what is under way at a provider
SHARDS = "shards"  # folder of journals of several jobs that ask one model or judge
MODELS = "data/models"
ADAPTERS = "data/adapters"
RUNS = ("data/runs", "results/runs")
PUBLISHED = "config/published"
AUDITS = ".punchline/audits"
SPEEDS = ".punchline/speeds"

RECORD = ".made.json"  # beside an artefact: what made it (provenance.py)


def record_of(path: str) -> str:
    """The record beside an artefact."""
    return path + RECORD


def folder_of(path: str) -> str:
    """The folder that a file lies in."""
    return path.rpartition("/")[0]


def manifest(benchmark: str, name: str = "annotations.csv") -> str:
    """A file of a benchmark's manifests."""
    return f"{MANIFESTS}/{benchmark}/{name}"


def runs_of(benchmark: str) -> str:
    """The manifest, and the folder of raw files, of the runs that a benchmark's authors released."""
    return f"{benchmark}_runs"


def published(benchmark: str) -> str:
    """The values that a paper prints."""
    return f"{PUBLISHED}/{benchmark}.csv"


def own(benchmark: str, name: str) -> str:
    """A file that is the user's."""
    return f"config/{benchmark}/{name}"


def journal(benchmark: str, model: str) -> str:
    """A model's answers to a benchmark's requests, of all runs."""
    return f"{JOURNALS}/{benchmark}/{model}.jsonl"


def shard_journal(journal: str, shard: str) -> str:
    """What one of several jobs has been answered, until the journal of who answers takes it over."""
    return f"{_shards_of(journal)}/{shard}.jsonl"


def shard(snapshot: str, shard: str) -> str:
    """That one of several jobs has asked its part of the requests that a snapshot answers."""
    return f"{_shards_of(snapshot)}/{shard}.json"


def _shards_of(path: str) -> str:
    return f"{folder_of(path)}/{SHARDS}/{Path(path).stem}"


def with_shards(journal: str) -> list[str]:
    """A journal, and those of its shards that are there."""
    return [journal, *sorted(path.as_posix() for path in Path(_shards_of(journal)).glob("*.jsonl"))]


def votes(benchmark: str, name: str) -> str:
    """A study of people's: its sheet, its raters and their votes."""
    return f"{VOTES}/{benchmark}/{name}.sqlite"


def audited(run: str, name: str) -> str:
    """What the last audit of a run's table said here; in none of the run's folders, as looking changes nothing."""
    return f"{AUDITS}/{run}/{name.removesuffix('.csv')}.json"


def speeds(key: str) -> str:
    """How fast those who answer by a key were here: of all runs, and no part of any."""
    return f"{SPEEDS}/{key[:16]}.jsonl"


def hop_journal(benchmark: str, hop: str, stem: str) -> str:
    """Answers to a hop's requests, by who gave them, of all runs."""
    return f"{JOURNALS}/{benchmark}/{hop}/{stem}.jsonl"


def small_model(name: str) -> str:
    """The list of files of a model that the project builds itself."""
    return f"{MODELS}/{name}/punchline.json"


def adapter(name: str) -> str:
    """What says that an adapter is trained, and on what."""
    return f"{ADAPTERS}/{name}/punchline.json"


@dataclass(frozen=True)
class Paths:
    """Where one run's files lie."""

    raw_root: str = RAW  # of its corpus
    run: str = DEFAULT_RUN

    @property
    def data(self) -> str:
        """Folder of the run's views between published bytes and answers."""
        return "data" if self.run == DEFAULT_RUN else f"{RUNS[0]}/{self.run}"

    @property
    def results(self) -> str:
        """Folder of the run's grades and tables."""
        return "results" if self.run == DEFAULT_RUN else f"{RUNS[1]}/{self.run}"

    @property
    def logs(self) -> str:
        """Folder of the run's logs."""
        return "logs" if self.run == DEFAULT_RUN else f"logs/runs/{self.run}"

    # What runs of one corpus share

    def raw(self, benchmark: str, name: str = "") -> str:
        """Folder of a benchmark's published files, or one of them."""
        return f"{self.raw_root}/{benchmark}" + (f"/{name}" if name else "")

    def fetch_journal(self, benchmark: str) -> str:
        """What became of every image that was ever fetched."""
        return self.raw(benchmark, "fetch.jsonl")

    def pictures(self, benchmark: str) -> str:
        """Folder of what models see."""
        within = f"{self.raw_root}/".removeprefix(f"{RAW}/")
        corpus = within if within != f"{self.raw_root}/" else f"_/{within}"  # no name begins with _
        return f"{IMAGES}/{corpus}{benchmark}"

    # Views of the selection

    def selected(self, benchmark: str) -> str:
        return f"{self.data}/items/{benchmark}/selected.csv"

    def ledger(self, benchmark: str) -> str:
        return f"{self.data}/items/{benchmark}/ledger.jsonl"

    def index(self, benchmark: str) -> str:
        """Which pictures each item has."""
        return f"{self.data}/items/{benchmark}/pictures.jsonl"

    def items(self, benchmark: str) -> str:
        return f"{self.data}/items/{benchmark}/items.jsonl"

    def gold(self, benchmark: str) -> str:
        return f"{self.data}/items/{benchmark}/gold.jsonl"

    def requests(self, benchmark: str) -> str:
        return f"{self.data}/requests/{benchmark}.parquet"

    def hop_requests(self, benchmark: str, hop: str, model: str) -> str:
        """What a hop asks about, or of, one model."""
        return f"{self.data}/requests/{benchmark}/{hop}/{model}.parquet"

    def snapshot(self, benchmark: str, model: str) -> str:
        """The answers to the current requests."""
        return f"{self.data}/responses/{benchmark}/{model}.parquet"

    def hop_snapshot(self, benchmark: str, hop: str, model: str) -> str:
        return f"{self.data}/responses/{benchmark}/{hop}/{model}.parquet"

    def grades(self, benchmark: str, model: str) -> str:
        return f"{self.results}/{benchmark}/grades/{model}.parquet"

    def cells(self, benchmark: str, model: str) -> str:
        """A model's part of all tables."""
        return f"{self.results}/{benchmark}/cells/{model}.json"

    def table(self, name: str) -> str:
        """A table's CSV, named as a benchmark declares it: `table8.csv`, `yesbut/table2.csv`."""
        return f"{self.results}/{name}"

    def availability(self, benchmark: str) -> str:
        return f"{self.results}/{benchmark}/availability.csv"

    def unread(self, benchmark: str) -> str:
        return f"{self.results}/{benchmark}/unread.csv"

    def ranks(self, benchmark: str) -> str:
        return f"{self.results}/{benchmark}/ranks.csv"

    @property
    def report(self) -> str:
        """Folder of the pages to look at."""
        return f"{self.results}/report"

    def report_items(self, benchmark: str) -> str:
        """The list of a benchmark's items for pages; the items themselves lie beside it."""
        return f"{self.report}/items/{benchmark}/index.js"

    def report_answers(self, benchmark: str, model: str) -> str:
        """What a model's answers are worth at a glance, for pages; the answers themselves lie beside it."""
        return f"{self.report}/answers/{benchmark}/{model}/index.js"

    @property
    def discrepancies(self) -> str:
        return f"{self.results}/discrepancies.csv"

    @property
    def cost(self) -> str:
        return f"{self.results}/cost.csv"

    @property
    def plan(self) -> str:
        return f"{self.results}/plan.csv"

    @property
    def metrics(self) -> str:
        """Main values of every table, for `dvc metrics`."""
        return f"{self.results}/metrics.json"

    @property
    def plots(self) -> str:
        """The same, a line a value, for `dvc plots`."""
        return f"{self.results}/metrics.csv"

    @property
    def selection(self) -> str:
        """The selection that the run was last made with."""
        return f"{self.results}/run.json"
