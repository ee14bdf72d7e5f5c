"""The verdict on one take: each check speaks for its own fault and none for a good take."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jobs.checks.free import TakeFacts, check_take
from jobs.kinds import Grade
from jobs.verdict import CHECKS_VERSION, Verdict
from tests.jobs.checks.sounds import RATE_HZ, said, silence

TEXT = "Anvil bridge copper dragon ember falcon garnet hollow."
FACTS = TakeFacts(RATE_HZ, "stop", TEXT, "en", 1.0, 15.0, RATE_HZ)


def good() -> np.ndarray:
    return said(*range(8), seconds=0.4)


def checks(verdict: Verdict) -> set[str]:
    return {reason.check for reason in verdict.reasons}


def tone(seconds: float, hertz: float = 150.0, level: float = 0.2) -> np.ndarray:
    return (level * np.sin(2 * np.pi * hertz * np.arange(round(seconds * RATE_HZ)) / RATE_HZ)).astype(np.float32)


def with_click() -> np.ndarray:
    samples = good()
    samples[len(samples) // 2] = 0.98
    return samples


def with_nan(value: float = np.nan) -> np.ndarray:
    samples = good()
    samples[7:9] = value
    return samples


def test_a_good_take_has_no_reason_and_all_figures():
    verdict = check_take(good(), FACTS)
    assert verdict == Verdict(grade=Grade.GOOD, scores=verdict.scores, version=CHECKS_VERSION)
    assert verdict.good
    assert verdict.scores["duration_s"] == pytest.approx(len(good()) / RATE_HZ, abs=1e-3)
    assert verdict.scores["spoken_s"] == pytest.approx(8 * 0.44 - 0.04, abs=0.05)
    assert verdict.scores["speech_db"] == pytest.approx(-20.5, abs=1.5)
    assert {"expected_s", "rhythm_misfit", "end_db", "click_ratio", "clipped_share", "steady_s"} <= set(verdict.scores)


@pytest.mark.parametrize(
    ("samples", "change", "check", "text"),
    [
        (good(), {"finish": "budget"}, "finish", "did not stop by itself within the time that its text may take"),
        (good(), {"finish": "budget"}, "finish", "if no other seed helps, submit the text in shorter sentences"),
        (good(), {"finish": "error", "error": "no memory"}, "finish", "no memory"),
        (good(), {"finish": "cancelled"}, "finish", "'cancelled' and not with 'stop'"),
        (np.zeros(0, np.float32), {}, "samples", "no samples"),
        (with_nan(), {}, "finite", "2 of"),
        (with_nan(np.inf), {}, "finite", "not finite"),
        (np.zeros(40_000, np.float32), {}, "silent", "silent"),
        (silence(2.0), {}, "silent", "peak is 0.0000"),
        (good(), {"expected_rate_hz": 24_000}, "sample_rate", "24000 Hz"),
    ],
)
def test_what_is_no_speech_at_all_is_unusable(samples, change, check, text):
    verdict = check_take(samples, replace(FACTS, **change))
    assert verdict.grade is Grade.UNUSABLE
    assert checks(verdict) == {check}
    assert text in verdict.text


BAD = [
    ("lead", np.concatenate((silence(1.5), good()))),
    ("trail", np.concatenate((good(), silence(3.0)))),
    ("pause", np.concatenate((good()[:40_000], silence(1.8), good()[40_000:]))),
    ("end", said(*range(8), seconds=0.4)[: -round(0.32 * RATE_HZ)]),
    ("rate", said(0, 1, 2)[: round(0.9 * RATE_HZ)]),
    ("rate", said(*range(40), seconds=0.4)),
    ("clipping", np.clip(good() * 20, -1, 1)),
    ("click", with_click()),
    ("dc", good() + np.float32(0.1)),
    ("level", good() * np.float32(0.03)),
    ("level", np.clip(good() * 20, -1, 1)),
    ("hum", np.concatenate((good(), tone(3.0)))),
    ("repeat", said(0, 1, 2, 3, 4, 2, 3, 4, 2, 3, 4, 2, 3, 4, 5, 6, 7, seconds=0.3)),
]


@pytest.mark.parametrize(("check", "samples"), BAD, ids=[f"{index} {check}" for index, (check, _) in enumerate(BAD)])
def test_each_check_speaks_for_its_fault(check, samples):
    verdict = check_take(samples, FACTS)
    assert verdict.grade is Grade.BAD
    assert check in checks(verdict)
    for reason in verdict.reasons:
        assert reason.text
        assert np.isfinite([reason.score, reason.limit]).all()


def test_silence_and_rate_are_measured_at_the_speed_that_was_asked_for():
    slow = said(*range(8), seconds=0.8)
    assert "rate" not in checks(check_take(slow, replace(FACTS, speed=0.5)))
    pause = np.concatenate((good()[:40_000], silence(1.2), good()[40_000:]))
    assert "pause" in checks(check_take(pause, FACTS))
    assert "pause" not in checks(check_take(pause, replace(FACTS, speed=0.5)))
    assert "pause" not in checks(check_take(pause, replace(FACTS, spoken=TEXT.replace("dragon", "dragon,"))))


def test_a_short_text_has_room():
    word = said(1, seconds=0.3)
    for text in ("Yes.", "No!", "A", "Whatever.", "Ha ha."):
        assert check_take(word, replace(FACTS, spoken=text)).good, text


def test_a_drawn_out_word_of_the_text_is_no_hum():
    samples = np.concatenate((silence(0.1), tone(1.9, 500.0), silence(0.1)))
    assert "hum" in checks(check_take(samples, replace(FACTS, spoken="Yes, no, yes, no, yes.")))
    assert "hum" not in checks(check_take(samples, replace(FACTS, spoken="Antidisestablishmentarianism.")))


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.floats(-2, 2, width=32), min_size=0, max_size=400),
    st.integers(1, 12),
    st.text(max_size=30),
    st.sampled_from([8_000, 22_050, 48_000]),
    st.floats(0.25, 4.0),
)
def test_any_samples_and_text_get_a_verdict_with_finite_figures(values, times, spoken, rate_hz, speed):
    samples = np.tile(np.array(values, np.float32), times)
    verdict = check_take(samples, TakeFacts(rate_hz, "stop", spoken, "en", speed, 15.0, 0))
    assert np.isfinite(list(verdict.scores.values())).all()
    assert verdict.good == (not verdict.reasons)
    assert Verdict.model_validate_json(verdict.model_dump_json()) == verdict


def test_a_verdict_is_the_same_every_time_and_for_16_bits():
    samples = good()
    assert check_take(samples, FACTS) == check_take(samples.copy(), FACTS)
    stored = np.rint(samples * 32767).astype(np.int16).astype(np.float32) / np.float32(32767)
    assert check_take(stored, FACTS).good
