"""Checks that hold for the account of every source."""

from __future__ import annotations

from jobs.account import ACCOUNT_SAMPLE_CHARS
from jobs.planning import Planned


def check_account(planned: Planned) -> None:
    """Every character is spoken, replaced or skipped, exactly once and in order; texts are those of the source."""
    plan, text = planned.plan, planned.text
    account = plan.account
    passages = sorted([*account.replaced, *account.skipped], key=lambda passage: passage.start)
    end = 0
    for passage in passages:
        assert end <= passage.start < passage.end <= len(text), passage
        assert passage.was == text[passage.start : passage.end][:ACCOUNT_SAMPLE_CHARS]
        end = passage.end
    assert list(account.replaced) == sorted(account.replaced, key=lambda passage: passage.start)
    assert list(account.skipped) == sorted(account.skipped, key=lambda passage: passage.start)
    assert all(not passage.now for passage in account.skipped)
    assert account.chars == len(text) == plan.source.chars
    assert account.spoken_chars + sum(passage.chars for passage in passages) == account.chars
    for sentence in planned.sentences:
        assert 0 <= sentence.source_start < sentence.source_end <= len(text)
        assert sentence.text
        assert sentence.spoken
    for segment in plan.segments:
        assert 0 <= segment.source_start < segment.source_end <= len(text)


def retold(planned: Planned) -> str:
    """The source with its replacements, without what is skipped: what must be spoken."""
    account, pieces, end = planned.plan.account, [], 0
    for passage in sorted([*account.replaced, *account.skipped], key=lambda passage: passage.start):
        pieces += (planned.text[end : passage.start], passage.now)
        end = passage.end
    return "".join([*pieces, planned.text[end:]])
