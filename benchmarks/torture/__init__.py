"""Torture: kills, flipped bytes, forgeries, full disks, clocks that jump, commands in pairs, hostile servers and files.

    python -m benchmarks.torture [KIND[=N] ...] [--seed S]        (make torture: all of them, at full size: hours)

One module a kind: `FULL`, how many are a full size, and `run(ground, n, seed)`, which gives one Row. All is done to
copies of one small project, made and run once (ground.py), with the real commands, a real server and real files.
"""
