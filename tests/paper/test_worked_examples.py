"""The paper's three worked examples, with the paper's own figures."""

import numpy as np
import pytest

import understudy as us

DOMAIN = us.Domain({"SEX": 2, "LABFORCE": 3, "SCHOOL": 2})  # M F; --- N Y; N Y
SEX_LABFORCE, LABFORCE_SCHOOL = ("SEX", "LABFORCE"), ("LABFORCE", "SCHOOL")
TRUE = {SEX_LABFORCE: [156, 65, 316, 158, 282, 23], LABFORCE_SCHOOL: [159, 155, 288, 59, 336, 3]}
NOISY = {
    SEX_LABFORCE: [132.428, 124.549, 244.365, 173.633, 318.029, -21.358],
    LABFORCE_SCHOOL: [116.021, 186.826, 287.215, 171.134, 278.498, -46.497],
}
ESTIMATED = {
    SEX_LABFORCE: [124.829, 121.696, 254.636, 166.034, 315.177, 0.0],
    LABFORCE_SCHOOL: [110.029, 180.834, 276.477, 160.396, 254.636, 0.0],
}
LABFORCE = [290.863, 436.873, 254.636]


@pytest.fixture(scope="module")
def field():
    return us.estimate(DOMAIN, [us.Measurement(clique, noisy, 50) for clique, noisy in NOISY.items()])


def distance(clique, counts):
    return np.abs(np.asarray(counts).reshape(-1) - TRUE[clique]).sum()


@pytest.mark.parametrize("clique", list(NOISY))
def test_example_1_measured_marginals_are_the_papers(field, clique):
    counts = field.marginal(clique).counts
    assert np.abs(counts.reshape(-1) - ESTIMATED[clique]).max() <= 0.05


def test_example_1_both_marginals_agree_on_labforce(field):
    for counts in (
        field.marginal(SEX_LABFORCE).counts.sum(axis=0),
        field.marginal(LABFORCE_SCHOOL).counts.sum(axis=1),
        field.marginal(("LABFORCE",)).counts,
    ):
        assert np.abs(counts - LABFORCE).max() <= 0.05


@pytest.mark.parametrize(
    ("clique", "noisy", "estimated"), [(SEX_LABFORCE, 251, 213), (LABFORCE_SCHOOL, 295, 272)]
)
def test_example_1_estimation_brings_the_truth_nearer(field, clique, noisy, estimated):
    assert distance(clique, NOISY[clique]) == pytest.approx(noisy, abs=1)
    assert distance(clique, field.marginal(clique).counts) == pytest.approx(estimated, abs=1)


def test_example_2_an_unmeasured_pair(field):
    counts = field.marginal(("SEX", "SCHOOL")).counts
    assert np.abs(counts - [[378.873, 122.289], [262.269, 218.942]]).max() <= 0.05


def test_example_2_the_unmeasured_triple(field):
    counts = field.marginal(("SEX", "LABFORCE", "SCHOOL")).counts.reshape(-1)
    paper = [47.221, 77.608, 77.016, 44.68, 254.636, 0, 62.808, 103.226, 199.461, 115.716, 0, 0]
    assert np.abs(counts - paper).max() <= 0.05
    truth = np.array([74, 82, 36, 29, 313, 3, 85, 73, 252, 30, 23, 0])
    assert truth.sum() == 1000
    # The text says 0.135; the total variation distance of the tables as printed is 0.179.
    assert np.abs(counts / counts.sum() - truth / 1000).sum() / 2 == pytest.approx(0.179, abs=1e-3)


@pytest.mark.parametrize("method", ["synthetic", "paper"])
def test_example_3_synthetic_counts_are_the_models_within_one(field, method):
    for seed in range(20):
        counts = field.sample(982, seed=seed, method=method).counts("LABFORCE").counts
        assert counts.sum() == 982
        assert np.abs(counts - [291, 437, 254]).max() <= 1


def test_example_3_independent_draws_are_visibly_worse(field):
    def error(method):
        samples = (field.sample(982, seed=seed, method=method) for seed in range(40))
        return np.mean([np.abs(s.counts("LABFORCE").counts - LABFORCE).sum() for s in samples])

    assert error("iid") > 10 * error("synthetic")
    assert 10 < error("iid") < 80  # the paper's own draw: |262-291| + |468-437| + |252-255| = 63


def test_the_field_stands_for_as_many_records_as_the_noisy_tables_say(field):
    assert field.total == pytest.approx(982.372, abs=0.05)
    assert len(field.sample()) == 982
