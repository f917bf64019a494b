"""Seeded orders that never change."""

import math
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from punchline.comics.shuffle import distinct_permutations, inverse, permutation
from punchline.errors import PunchlineError


@pytest.mark.parametrize(
    "n, seed, key, expected",
    [
        (0, 0, "", ()),
        (1, 0, "strip_1", (0,)),
        (4, 0, "strip_1", (0, 2, 3, 1)),
        (6, 42, "strip_ä", (0, 3, 5, 2, 1, 4)),
        (10, -1, "", (4, 1, 6, 2, 5, 9, 3, 8, 0, 7)),
    ],
)
def test_orders_that_must_never_change(n: int, seed: int, key: str, expected: tuple[int, ...]) -> None:
    assert permutation(n, seed, key) == expected


@given(st.integers(0, 40), st.integers(), st.text(st.characters(codec="utf-8")))
def test_every_permutation_is_one(n: int, seed: int, key: str) -> None:
    order = permutation(n, seed, key)
    assert sorted(order) == list(range(n))
    assert order == permutation(n, seed, key)
    assert tuple(order[i] for i in inverse(order)) == tuple(range(n))


def test_seed_and_key_both_matter_and_orders_are_uniform() -> None:
    assert len({permutation(12, seed, "a") for seed in range(50)}) == 50
    assert len({permutation(12, 0, str(key)) for key in range(50)}) == 50
    drawn = Counter(permutation(4, 7, str(key)) for key in range(4800))
    assert len(drawn) == 24
    assert sum((seen - 200) ** 2 / 200 for seen in drawn.values()) < 49.7  # chi-squared, 23 degrees, p = .001


@given(st.integers(1, 4), st.integers(0, 5), st.text(max_size=3), st.data())
def test_distinct_permutations(n: int, seed: int, key: str, data: st.DataObject) -> None:
    gold = tuple(range(n))
    most = math.factorial(n) - 1
    count = data.draw(st.integers(0, most))
    orders = distinct_permutations(n, count, seed, key, excluding=[gold])
    assert len(set(orders)) == len(orders) == count
    assert gold not in orders
    assert all(sorted(order) == list(gold) for order in orders)
    assert distinct_permutations(n, most, seed, key, excluding=[gold])[:count] == orders
    with pytest.raises(PunchlineError, match=f"{most + 1} distinct orders of {n} frames wanted, {most} are there"):
        distinct_permutations(n, most + 1, seed, key, excluding=[gold])
