"""What the engine relies on: exactness in any company, exact seams, seeds, budgets, refusals."""

import random
from dataclasses import replace

import numpy as np
import pytest
import torch

from engine.program import RequestRejected
from engine.request import FinishReason
from models.base import Prompt
from models.piper import vits
from models.piper.program import PiperInputs
from models.piper.vits import Pace
from tests.models.piper.helpers_voice import SENTENCES, pcm, random_texts
from tests.models.piper.helpers_voice import request as make_request

pytestmark = pytest.mark.voice


@pytest.fixture(scope="module")
def requests(joe):
    texts = random_texts(seed=3, count=12)
    return [make_request(joe.prepare(Prompt(text, "joe", "en")).inputs, seed) for seed, text in enumerate(texts)]


@pytest.fixture(scope="module")
def alone(joe, requests):
    torch.set_num_threads(1)
    return {item.request_id: joe.program.encode([item])[0] for item in requests}


@pytest.mark.parametrize("seed", range(3))
def test_latents_are_bit_for_bit_the_same_in_any_batch(joe, requests, alone, seed):
    rng = random.Random(seed)
    order = rng.sample(requests, len(requests))
    while order:
        size = rng.randint(1, 5)
        batch, order = order[:size], order[size:]
        for item, latent in zip(batch, joe.program.encode(batch), strict=True):
            assert torch.equal(latent.latents, alone[item.request_id].latents)


@pytest.mark.parametrize("precision", ["joe", "joe_bf16"])
def test_take_bytes_are_the_same_in_a_batch_with_windows_of_others_between(request, precision, requests):
    program = request.getfixturevalue(precision).program
    some = requests[:5]
    expected = [pcm(program, program.encode([item])[0]) for item in some]
    latents = program.encode(some[::-1])[::-1]
    parts = [b""] * len(some)
    longest = max(latent.num_frames for latent in latents)
    for start in range(0, longest, program.chunk_frames):  # chunk by chunk across the batch, as slots are served
        for index, latent in enumerate(latents):
            if start < latent.num_frames:
                stop = min(start + program.chunk_frames, latent.num_frames)
                samples = program.decode(latent, start, stop)
                parts[index] += (samples * 32767).astype("<i2").tobytes()
    assert parts == expected


def test_two_threads_are_exact_in_any_batch_too(joe, requests):
    torch.set_num_threads(2)
    short = requests[:2] + requests[3:4]  # threads that wait for a busy core make long ones slow
    alone = [joe.program.encode([item])[0].latents for item in short]
    together = [latent.latents for latent in joe.program.encode(short)]
    assert all(torch.equal(a, b) for a, b in zip(alone, together, strict=True))


@pytest.mark.parametrize("size", [1, 10, 16, 50, 128])
def test_windows_join_to_the_whole(joe, requests, alone, size):
    latent = alone[requests[3].request_id]
    whole = joe.program.decode(latent, 0, latent.num_frames)
    starts = range(0, min(latent.num_frames, 12 * size), size)
    parts = [joe.program.decode(latent, at, min(at + size, latent.num_frames)) for at in starts]
    joined = np.concatenate(parts)
    assert np.abs(joined - whole[: len(joined)]).max() <= 5e-6


def test_the_ends_of_an_utterance_are_exact_in_short_windows(joe, requests, alone):
    latent = alone[requests[4].request_id]
    frames, hop = latent.num_frames, joe.program.hop_samples
    whole = joe.program.decode(latent, 0, frames)
    assert np.abs(joe.program.decode(latent, 0, 3) - whole[: 3 * hop]).max() <= 5e-6
    assert np.abs(joe.program.decode(latent, frames - 3, frames) - whole[-3 * hop :]).max() <= 5e-6


def test_a_window_sees_eleven_frames_to_either_side_and_no_more(joe, requests, alone):
    latent = alone[requests[2].request_id]
    decoder = latent.vits.decoder
    assert decoder.context_frames() == 11
    before = decoder(latent.latents, 40, 44)
    for offset, same in ((-12, True), (-11, False), (14, False), (15, True)):  # from the window's first frame
        moved = latent.latents.clone()
        moved[40 + offset] += 10.0
        assert torch.equal(decoder(moved, 40, 44), before) is same


def test_the_seed_is_what_makes_the_sound(joe, inputs):
    item = inputs[2]
    first, again, other = (joe.program.encode([make_request(item, seed)])[0] for seed in (7, 7, 8))
    assert torch.equal(first.latents, again.latents)
    assert pcm(joe.program, first) != pcm(joe.program, other)


def test_speed_changes_the_length(joe):
    lengths = []
    for speed in (0.5, 1.0, 2.0):
        prepared = joe.prepare(Prompt("The ferry left the harbour before noon.", "joe", "en", speed=speed))
        (latent,) = joe.program.encode([make_request(prepared.inputs, 1)])
        lengths.append(latent.num_frames)
    assert lengths[0] > 1.5 * lengths[1] > 1.5 * 1.2 * lengths[2]


def test_words_begin_and_end_with_their_sound_and_commas_stand_between_them(joe):
    texts = [*SENTENCES, "Well, he left; and so, at last, did she."]
    for seed, text in enumerate(texts):
        inputs = joe.prepare(Prompt(text, "joe", "en")).inputs
        (latent,) = joe.program.encode([make_request(inputs, seed)])
        samples = joe.program.decode(latent, 0, latent.num_frames)
        rate_hz, hop = joe.program.sample_rate_hz, joe.program.hop_samples
        words = [(start * hop / rate_hz, end * hop / rate_hz) for start, end in latent.words]
        assert len(words) == len(text.split())
        level = np.sqrt(np.convolve(samples**2, np.full(200, 1 / 200), "same"))
        loud_s = np.flatnonzero(level > 0.02 * level.max()) / rate_hz
        assert abs(words[0][0] - loud_s[0]) <= 0.06
        assert -0.03 <= words[-1][1] - loud_s[-1] <= 0.2
        for word, (_, end), (start, _) in zip(text.split(), words, words[1:], strict=False):
            if word.endswith((",", ";", "?")):
                assert start - end >= 0.08
                middle = level[round(end * rate_hz) : round(start * rate_hz)]
                assert middle.min() <= 0.02 * level.max()


def test_words_change_no_sample(joe, inputs):
    with_words, without = (
        joe.program.encode([make_request(one, 3)])[0] for one in (inputs[3], replace(inputs[3], words=()))
    )
    assert with_words.words
    assert not without.words
    assert torch.equal(with_words.latents, without.latents)


def test_an_utterance_over_its_budget_is_cut_and_says_so(joe, inputs, monkeypatch):
    monkeypatch.setattr(vits, "BUDGET_FRAMES_PER_ID", 0)
    monkeypatch.setattr(vits, "BUDGET_FRAMES_FIXED", 20)
    (latent,) = joe.program.encode([make_request(inputs[3], 1)])
    assert (latent.num_frames, latent.finish) == (20, FinishReason.BUDGET)
    assert latent.words == ()


def test_ordinary_speech_stays_within_its_budget(alone):
    assert {latent.finish for latent in alone.values()} == {FinishReason.STOP}


@pytest.mark.parametrize(
    ("inputs", "reason"),
    [
        ("text", "cannot speak a str"),
        (PiperInputs("joe", (), Pace(0.0, 0.0, 1.0)), "0 ids"),
        (PiperInputs("joe", (1, 999, 2), Pace(0.0, 0.0, 1.0)), r"\[0, 256\)"),
        (PiperInputs("nobody", (1, 2), Pace(0.0, 0.0, 1.0)), "no voice 'nobody'"),
        (PiperInputs("joe", (1, 0, 20, 0, 2), Pace(0.0, 0.0, float("nan"))), "not finite"),
    ],
)
def test_a_request_that_cannot_be_spoken_is_named(joe, requests, inputs, reason):
    bad = replace(requests[0], inputs=inputs)
    with pytest.raises(RequestRejected, match=reason) as caught:
        joe.program.encode([requests[0], bad])
    assert caught.value.index == 1


@pytest.mark.parametrize(("start", "stop"), [(-1, 3), (3, 3), (0, 10_000)])
def test_a_window_outside_the_segment_is_refused(joe, requests, alone, start, stop):
    with pytest.raises(ValueError, match="not inside"):
        joe.program.decode(alone[requests[0].request_id], start, stop)


def test_another_programs_latent_is_refused(joe):
    with pytest.raises(TypeError, match="cannot decode a str"):
        joe.program.decode("latent", 0, 1)
