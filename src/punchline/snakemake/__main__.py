"""python -m punchline.snakemake: Snakemake, which Ctrl-C ends with one line before it has read the rules, too."""

from punchline.start import start

start("snakemake.cli")
