"""Run the job of one rule: python scripts/stage.py STAGE --WILDCARD VALUE."""

import sys
from importlib import import_module

from punchline.stages.job import run

STAGES = {
    "ask": "stages.ask:write_requests",
    "availability": "stages.fetch.commands:write_availability_of",
    "cost": "stages.cost:write_cost",
    "discrepancies": "stages.discrepancies:write_discrepancies",
    "figure": "report.site:write_figure",
    "finetune": "stages.finetune:write_adapter",
    "gold": "stages.prepare:write_gold",
    "images": "stages.fetch.commands:write_images",
    "items": "stages.prepare:write_items",
    "metrics": "stages.metrics:write_metrics",
    "pictures": "stages.pictures:write_pictures",
    "ranks": "stages.ranks:write_ranks",
    "raw": "stages.fetch.commands:write_annotations",
    "report": "report.site:write_report",
    "report_answers": "report.answers:write_answers",
    "report_items": "report.items:write_items",
    "respond": "stages.respond:respond",
    "score": "stages.score:write_model",
    "select_items": "stages.prepare:write_selected",
    "tables": "stages.tabulate:write_tables",
    "unread": "stages.unread:write_unread",
}

if __name__ == "__main__":
    stage = sys.argv[1] if len(sys.argv) > 1 else ""
    if stage not in STAGES:
        sys.exit(f"usage: stage.py STAGE --WILDCARD VALUE; stages: {', '.join(STAGES)}")
    module, _, function = STAGES[stage].partition(":")
    run(getattr(import_module(f"punchline.{module}"), function), stage, sys.argv[2:])
