"""Small fields whose whole joint distribution is known, to compare with brute force."""

from typing import Any

import numpy as np
from hypothesis import strategies as st

from understudy.domain import Domain
from understudy.model import Field, build_tree
from understudy.model.tree.factor import align


def brute_marginal(joint: Any, domain: Domain, clique: tuple[str, ...]) -> Any:
    names = domain.names
    summed = joint.sum(axis=tuple(i for i, name in enumerate(names) if name not in clique))
    kept = [name for name in names if name in clique]
    return summed.transpose([kept.index(name) for name in clique])


def make_field(
    domain: Domain, cliques: list[tuple[str, ...]], *, seed: int, zeros: float = 0.0, total: float = 100.0
):
    """A field with one random factor a clique, and its joint distribution."""
    rng = np.random.default_rng(seed)
    joint = np.ones(domain.shape())
    for clique in cliques:
        factor = rng.gamma(0.5, size=domain.shape(clique)) + 1e-3
        factor[rng.random(factor.shape) < zeros] = 0
        changed = joint * align(clique, factor, domain.names)
        joint = changed if changed.sum() > 0 else joint
    joint /= joint.sum()
    tree = build_tree(domain, cliques)
    return Field(tree, [brute_marginal(joint, domain, clique) for clique in tree.cliques], total), joint


@st.composite
def fields(draw, zeros: float = 0.15):
    """A field over up to six columns of up to four codes, with up to seven pairs or triples."""
    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=6))
    domain = Domain({f"c{i}": size for i, size in enumerate(sizes)})
    cliques = draw(
        st.lists(
            st.lists(st.sampled_from(domain.names), min_size=1, max_size=3, unique=True).map(tuple),
            max_size=7,
        )
    )
    return make_field(domain, cliques, seed=draw(st.integers(0, 2**32)), zeros=zeros)
