"""Texts for every door get the words of this one."""

from __future__ import annotations

import pytest

from cli.api.wording import first_field, for_http


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("--format 'x' is not possible", "formats 'x' is not possible"),
        ("pass --lang en-US to have it read", "pass language en-US to have it read"),
        ("--skip and --keep both name notes", "skip and keep both name notes"),
        ("--on-bad 'x'", "on_bad 'x'"),
        ("see `tts-batch voices`)", "see `GET /v1/audio/voices`)"),
        ("wait: `tts-batch watch book-1`", "wait: `GET /v1/jobs/{id}/events`"),
        ("`tts-batch doctor` tells", "`tts-batch doctor` tells"),
        ("00:01 --> 00:02 a--b", "00:01 --> 00:02 a--b"),
        ("nothing to change", "nothing to change"),
    ],
)
def test_options_are_fields_and_commands_are_routes(text: str, shown: str):
    assert for_http(text) == shown


@pytest.mark.parametrize(
    ("text", "field"), [("--type 'x'", "kind"), ("--read-along needs", "read_along"), ("voice --x", None), ("", None)]
)
def test_the_field_that_a_text_begins_with(text: str, field: str | None):
    assert first_field(text) == field
