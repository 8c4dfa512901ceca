"""Work on all cores is done whole, in its order, and fails as it would on one."""

import pytest

from understudy import processors


@pytest.mark.parametrize("cores", [1, 2, 5])
def test_what_all_cores_do_comes_in_the_order_of_the_items(
    cores: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processors, "available_cores", lambda: cores)
    assert processors.on_all_cores(lambda number: number**2, range(50)) == [k**2 for k in range(50)]
    with pytest.raises(ZeroDivisionError):
        processors.on_all_cores(lambda number: 1 / number, [1, 0])
