"""What the viewer's test of other sizes reads is what this code says today."""

from rebind_fixture import FIXTURE, fixture


def test_up_to_date():
    assert FIXTURE.read_bytes() == fixture(), "run python tests/report/rebind_fixture.py"
