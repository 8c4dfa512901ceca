"""Many small marginals of a large clique are read by way of a few tables: the same sums, in far fewer additions."""

import itertools

import numpy as np
import pytest

from understudy.domain import Domain
from understudy.model.tree.junction_tree import build_tree
from understudy.model.tree.propagation import Propagation
from understudy.model.tree.tree_layout import lay_out_tree
from understudy.model.tree.waypoints import LITTLE, ROOM, waypoints


def _asked(domain, orders=(1, 2, 3)):
    return [clique for order in orders for clique in itertools.combinations(domain.names, order)]


@pytest.mark.parametrize("sizes", [(2,) * 14, (5, 2, 7, 2, 3, 4, 2, 6), (1, 9, 1, 9, 9, 9, 9)])
def test_marginals_read_by_way_of_tables_are_those_read_off_the_clique(sizes):
    domain = Domain({f"c{place}": size for place, size in enumerate(sizes)})
    asked = _asked(domain)
    layout = lay_out_tree(build_tree(domain, [domain.names]), asked)
    assert len(layout.routes.tables)
    tables = np.random.default_rng(0).random(layout.cells)
    cells = np.empty(layout.observed_cells)
    Propagation(layout).observe(tables, cells)
    whole = tables.reshape(sizes)
    for clique, (_, at, size) in zip(asked, layout.places, strict=True):
        others = tuple(axis for axis, name in enumerate(domain.names) if name not in clique)
        np.testing.assert_allclose(cells[at : at + size], whole.sum(axis=others).reshape(-1), rtol=1e-12)


def test_writing_marginals_back_is_the_transpose_of_reading_them():
    domain = Domain({f"c{place}": size for place, size in enumerate((2, 3) * 7)})
    parts = domain.names[:11], domain.names[5:]
    asked = [c for c in _asked(domain, (1, 2)) if any(set(c) <= set(part) for part in parts)]
    layout = lay_out_tree(build_tree(domain, parts), asked)
    assert len(layout.routes.tables)
    draw, propagation = np.random.default_rng(1), Propagation(layout)
    tables, cells = draw.random(layout.cells), draw.random(layout.observed_cells)
    read, written = np.empty(layout.observed_cells), np.zeros(layout.cells)
    propagation.observe(tables, read)
    propagation.add_observed(written, 1.5, cells)
    assert 1.5 * float(read @ cells) == pytest.approx(float(written @ tables), rel=1e-12)


def test_the_tables_on_the_way_are_far_less_work_than_the_marginals_one_by_one():
    domain = Domain({f"c{place}": 2 for place in range(16)})
    asked = _asked(domain, (2,))
    found = waypoints(domain, domain.names, asked)
    assert sorted(place for _, places in found for place in places) == list(range(len(asked)))
    work = sum(domain.size(domain.names) + domain.size(table) * len(places) for table, places in found)
    assert work < domain.size(domain.names) * len(asked) / 6
    assert sum(domain.size(table) * len(places) for table, places in found) <= ROOM * domain.size(
        domain.names
    )


def test_what_is_little_work_anyhow_is_not_planned():
    domain = Domain({f"c{place}": 2 for place in range(10)})
    assert domain.size(domain.names) * 45 < LITTLE
    assert waypoints(domain, domain.names, _asked(domain, (2,))) == []
