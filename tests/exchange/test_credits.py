"""Windows bound what is under way, hop by hop, and let everything through in the end."""

from __future__ import annotations

from tidelog.exchange.credits import Debts, Window


def test_what_does_not_fit_waits_for_credit_in_order() -> None:
    window = Window(most=10)
    assert window.leaves(1, 6, ["a"])
    assert not window.leaves(1, 6, ["b"])
    assert not window.leaves(1, 1, ["c"])  # it would fit, but is behind b
    assert window.held == 7
    assert list(window.credit(1, 6)) == [["b"], ["c"]]
    assert window.held == 0


def test_hops_do_not_wait_for_each_other() -> None:
    window = Window(most=10)
    assert window.leaves(1, 10, ["a"])
    assert not window.leaves(1, 10, ["b"])
    assert window.leaves(2, 10, ["c"])


def test_a_message_larger_than_the_window_goes_alone() -> None:
    window = Window(most=10)
    assert window.leaves(1, 100, ["a"])
    assert not window.leaves(1, 100, ["b"])
    assert list(window.credit(1, 50)) == []
    assert list(window.credit(1, 50)) == [["b"]]


def test_credit_is_given_for_much_at_once_and_for_all_by_who_has_nothing_to_do() -> None:
    debts = Debts(most=40)
    debts.add(0, 1, 9)
    debts.add(1, 1, 10)
    assert debts.due(idle=False) == [(1, 1, 10)]
    debts.add(0, 1, 2)
    assert debts.due(idle=True) == [(0, 1, 11)]
    assert debts.due(idle=True) == []
