"""Secrets: long, random, shown once; names and scopes that are allowed."""

from __future__ import annotations

import re

import pytest

from jobs.access.gate import Quota, Scope
from jobs.access.tokens import LONGEST_NAME, digest_of, new_token
from jobs.errors import BadOption


def test_a_secret_is_long_random_and_not_in_what_is_kept() -> None:
    made = [new_token("ann", (Scope.READ,)) for _ in range(100)]
    assert len({secret for _, secret in made}) == len({token.token for token, _ in made}) == 100
    for token, secret in made:
        assert re.fullmatch(r"ttsb_[A-Za-z0-9_-]{43}", secret)
        assert token.digest == digest_of(secret)
        assert secret.removeprefix("ttsb_") not in token.model_dump_json()
        assert re.fullmatch(r"tok_[0-9a-f]{12}", token.token)


def test_scopes_are_kept_once_each_in_their_order() -> None:
    token, _ = new_token("ann", (Scope.VOICES, Scope.READ, Scope.VOICES), Quota(concurrent=1))
    assert token.scopes == (Scope.READ, Scope.VOICES)


@pytest.mark.parametrize("name", ["", "  ", "a\nb", "a\x1b[31m", "a\0", "\u2028", "\ud800", "n" * (LONGEST_NAME + 1)])
def test_a_name_that_cannot_be_shown_is_refused(name: str) -> None:
    with pytest.raises(BadOption, match="printable"):
        new_token(name, (Scope.READ,))


def test_a_token_without_a_scope_is_refused() -> None:
    with pytest.raises(BadOption, match="read, jobs, speak, voices"):
        new_token("ann", ())


def test_what_is_too_long_for_a_secret_has_no_secrets_digest() -> None:
    assert digest_of("x" * 200) != digest_of("x" * 201)
    assert digest_of("\ud800") != digest_of("?")
