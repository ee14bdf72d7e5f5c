"""Files as others see them: lengths, tags, chapters, covers and stable bytes, read with PyAV and with ffprobe."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from pathlib import Path

import av
import numpy as np
import pytest

from jobs.assembly.containers import CONTAINERS, check_fits
from jobs.assembly.encode import ChapterMark, EncodeSpec, Tags, encode, read_cover
from jobs.assembly.readback import check_written, read_back
from jobs.errors import BadInput, BadOutput, EncodeMismatch, StoreError
from jobs.spec import AudioFormat
from jobs.stores import FolderStore
from tests.jobs.assembly.making import decode, ffprobe, picture, tone_pcm
from tests.jobs.stores.small_disk import small_disk

_ = small_disk  # the fixture

FORMATS = list(AudioFormat)
TAGS = Tags(
    title="Das „Büchlein“ 漢字",
    artist="Zoë Ångström",
    album="Œuvres",
    narrator="tone (synthetic voice)",
    comment="Synthetic speech",
)


def blocks(pcm: np.ndarray, size: int = 4567):
    for start in range(0, pcm.size, size):
        yield pcm[start : start + size]


def mp3_samples(data: bytes, frame_samples: int) -> int:
    """The length a player computes from the Xing/LAME header: frames, less 12 bits of delay and 12 of padding."""
    at = data.index(b"Info")
    frames = int.from_bytes(data[at + 8 : at + 12], "big")
    packed = int.from_bytes(data[at + 141 : at + 144], "big")
    return frames * frame_samples - (packed >> 12) - (packed & 0xFFF)


def make(path: Path, audio_format: AudioFormat, pcm: np.ndarray, *, rate_hz: int = 22050, **changes) -> EncodeSpec:
    spec = replace(EncodeSpec(audio_format, rate_hz, pcm.size, TAGS), **changes)
    info = encode(path, blocks(pcm), spec)
    assert (info.samples, info.bytes) == (pcm.size, path.stat().st_size)
    assert info.duration_s == pcm.size / rate_hz
    return spec


@pytest.mark.parametrize("audio_format", FORMATS)
@pytest.mark.parametrize("samples", [500, 1023, 1024, 1153, 22050, 50_001])
@pytest.mark.parametrize("rate_hz", [16000, 22050, 24000, 44100])
def test_every_length_and_rate_is_kept(tmp_path, audio_format, samples, rate_hz):
    path = tmp_path / "x"
    pcm = tone_pcm(samples)
    make(path, audio_format, pcm, rate_hz=rate_hz)
    found = read_back(path, audio_format)
    if audio_format is AudioFormat.OPUS:
        assert found.sample_rate_hz == 48000
        assert abs(found.decoded_samples - samples * 48000 / rate_hz) <= 1
    else:
        assert found.sample_rate_hz == rate_hz
    if audio_format in {AudioFormat.WAV, AudioFormat.FLAC}:
        assert np.array_equal(decode(path.read_bytes()), pcm)
    if audio_format is AudioFormat.MP3:
        assert mp3_samples(path.read_bytes(), 1152 if rate_hz > 24000 else 576) == found.decoded_samples
        assert 0 <= found.decoded_samples - samples <= 47
        assert (
            samples == 1153 or found.decoded_samples == samples
        )  # 1153: one of few lengths with padding of two frames
    if audio_format is AudioFormat.M4B:
        assert found.track_samples == samples  # what players show; the decoder's last frame may be longer
        assert found.decoded_samples == samples + -samples % 1024


@pytest.mark.parametrize("audio_format", FORMATS)
def test_the_sound_is_the_one_that_went_in(tmp_path, audio_format):
    rate_hz = 24000
    time_s = np.arange(2 * rate_hz) / rate_hz
    pcm = np.where(time_s < 1, 9000 * np.sin(2 * np.pi * 440 * time_s), 0).astype(np.int16)
    make(tmp_path / "x", audio_format, pcm, rate_hz=rate_hz)
    sound = decode((tmp_path / "x").read_bytes()).astype(np.float64)
    sound /= 32768 if np.abs(sound).max() > 2 else 1
    out_hz = 48000 if audio_format is AudioFormat.OPUS else rate_hz
    first, second = sound[: out_hz * 99 // 100], sound[out_hz * 103 // 100 : out_hz * 2]
    spectrum = np.abs(np.fft.rfft(first))
    assert np.fft.rfftfreq(first.size, 1 / out_hz)[spectrum.argmax()] == pytest.approx(440, abs=2)
    assert np.sqrt(np.mean(first**2)) == pytest.approx(9000 / 32768 / np.sqrt(2), rel=0.1)
    assert np.abs(second).max() < 0.003  # a shift by 31 ms, or a lost second, would be heard here


@pytest.mark.parametrize("audio_format", FORMATS)
def test_two_runs_write_the_same_bytes(tmp_path, audio_format):
    pcm, cover = tone_pcm(30_000), read_cover(picture())
    marks = (ChapterMark("A", 0), ChapterMark("B", 20_000))
    for name, size in (("a", 4567), ("b", 4567), ("c", 1000)):
        spec = EncodeSpec(audio_format, 22050, pcm.size, TAGS, marks=marks, cover=cover)
        encode(tmp_path / name, blocks(pcm, size), spec)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert (tmp_path / "a").read_bytes() == (tmp_path / "c").read_bytes()


@pytest.mark.parametrize("audio_format", FORMATS)
def test_ffprobe_sees_length_and_tags(tmp_path, audio_format):
    samples, rate_hz = 220_123, 22050
    make(tmp_path / "x", audio_format, tone_pcm(samples), rate_hz=rate_hz)
    seen = ffprobe(tmp_path / "x", "-show_format", "-show_streams")
    frame_s = 576 / rate_hz
    # Debian's FFmpeg 5 counts the mp3 encoder's delay and the opus pre-skip (6.5 ms) as audio; newer ones do not.
    late_s = {AudioFormat.MP3: 3 * frame_s, AudioFormat.OPUS: 0.0075}.get(audio_format, 1e-5)
    assert -1e-5 <= float(seen["format"]["duration"]) - samples / rate_hz <= late_s
    tags = {**seen["format"].get("tags", {}), **seen["streams"][0].get("tags", {})}
    tags = {name.lower(): text for name, text in tags.items()}
    assert tags["title"] == TAGS.title
    assert tags["artist"] == TAGS.artist
    assert tags["album"] == TAGS.album
    assert tags["genre"] == "Audiobook"
    assert tags["comment"] == "Synthetic speech"
    assert "encoder" not in tags or "Lavf" not in tags["encoder"]
    assert [stream["channels"] for stream in seen["streams"] if stream["codec_type"] == "audio"] == [1]


@pytest.mark.parametrize("audio_format", [AudioFormat.M4B, AudioFormat.MP3, AudioFormat.FLAC, AudioFormat.OPUS])
def test_chapters_are_read_back_at_their_sample(tmp_path, audio_format):
    samples, rate_hz = 200_000, 22050
    marks = (ChapterMark("Eins – Vorwort", 0), ChapterMark("二", 50_001), ChapterMark("A\nb\0c", 123_457))
    make(tmp_path / "x", audio_format, tone_pcm(samples), rate_hz=rate_hz, marks=marks)
    seen = ffprobe(tmp_path / "x", "-show_chapters")["chapters"]
    assert [chapter["tags"]["title"] for chapter in seen] == ["Eins – Vorwort", "二", "A b c"]
    for chapter, mark in zip(seen, marks, strict=True):
        assert float(chapter["start_time"]) == pytest.approx(mark.start_sample / rate_hz, abs=0.001)


def test_320_chapters_go_into_one_book(tmp_path):
    marks = tuple(ChapterMark(f"Chapter {number + 1}", number * 1000) for number in range(320))
    make(tmp_path / "x", AudioFormat.M4B, tone_pcm(320_000), marks=marks)
    seen = ffprobe(tmp_path / "x", "-show_chapters")["chapters"]
    assert [chapter["tags"]["title"] for chapter in seen] == [mark.title for mark in marks]
    starts = [float(chapter["start_time"]) for chapter in seen]
    assert starts == pytest.approx([mark.start_sample / 22050 for mark in marks], abs=1e-3)
    with av.open(str(tmp_path / "x")) as book:
        assert len(book.chapters()) == 320


def test_m4b_is_an_audiobook_that_starts_at_once(tmp_path):
    make(tmp_path / "x", AudioFormat.M4B, tone_pcm(100_000))
    data = (tmp_path / "x").read_bytes()
    assert data[4:12] == b"ftypM4B "
    assert 0 < data.index(b"moov") < data.index(b"mdat")
    seen = ffprobe(tmp_path / "x", "-show_streams")["streams"][0]
    assert float(seen["start_time"]) == 0.0
    assert float(seen["duration"]) == pytest.approx(100_000 / 22050, abs=1e-6)


@pytest.mark.parametrize("audio_format", [AudioFormat.M4B, AudioFormat.MP3, AudioFormat.FLAC])
@pytest.mark.parametrize("codec", ["mjpeg", "png"])
def test_the_cover_is_in_the_file_byte_for_byte(tmp_path, audio_format, codec):
    data = picture(codec)
    make(tmp_path / "x", audio_format, tone_pcm(30_000), cover=read_cover(data))
    assert data in (tmp_path / "x").read_bytes()
    streams = ffprobe(tmp_path / "x", "-show_streams")["streams"]
    pictures = [stream for stream in streams if stream["disposition"]["attached_pic"]]
    assert [(p["codec_name"], p["width"], p["height"]) for p in pictures] == [(codec, 48, 48)]


@pytest.mark.parametrize("audio_format", [AudioFormat.WAV, AudioFormat.OPUS])
def test_formats_without_room_for_a_cover_go_without(tmp_path, audio_format):
    make(tmp_path / "x", audio_format, tone_pcm(30_000), cover=read_cover(picture()))
    with av.open(str(tmp_path / "x")) as source:
        assert [stream.type for stream in source.streams] == ["audio"]


@pytest.mark.parametrize(
    "data", [b"", b"no picture", picture()[:40], picture("bmp")], ids=["empty", "text", "cut", "bmp"]
)
def test_a_bad_cover_is_refused(data):
    with pytest.raises(BadInput, match="use a JPEG or PNG"):
        read_cover(data)


@pytest.mark.parametrize("audio_format", FORMATS)
def test_a_full_disk_leaves_nothing(small_disk, audio_format):
    store = FolderStore(small_disk)
    store.put("filler", bytes(shutil.disk_usage(small_disk).free - 65_536))
    noise = np.random.default_rng(0).integers(-9000, 9000, 22050 * 30).astype(np.int16)
    spec = EncodeSpec(audio_format, 22050, noise.size, TAGS)

    def write():
        with store.writer("jobs/x/book") as path:
            encode(path, blocks(noise, 1 << 16), spec)

    with pytest.raises(StoreError, match=r"No space left.*bytes free"):
        write()
    assert [path for path in small_disk.rglob("*") if path.is_file()] == [small_disk / "filler"]


@pytest.mark.parametrize("claimed", [9_999, 10_001])
def test_blocks_that_do_not_add_up_are_refused(tmp_path, claimed):
    with pytest.raises(EncodeMismatch, match=rf"10000 samples .* {claimed}"):
        encode(tmp_path / "x", blocks(tone_pcm(10_000)), EncodeSpec(AudioFormat.FLAC, 22050, claimed, TAGS))


@pytest.mark.parametrize("audio_format", FORMATS)
def test_a_file_that_lost_its_end_is_found(tmp_path, audio_format):
    path = tmp_path / "x"
    make(path, audio_format, tone_pcm(100_000))
    os.truncate(path, path.stat().st_size * 3 // 4)
    with pytest.raises(EncodeMismatch, match="repeat the step"):
        check_written(path, audio_format=audio_format, sample_rate_hz=22050, samples=100_000, sha256="")


def test_a_lossless_file_with_one_other_sample_is_found(tmp_path):
    make(tmp_path / "x", AudioFormat.WAV, tone_pcm(1000))
    found = read_back(tmp_path / "x", AudioFormat.WAV)
    for sha256, fine in ((found.sha256, True), ("0" * 64, False)):
        call = {"audio_format": AudioFormat.WAV, "sample_rate_hz": 22050, "samples": 1000, "sha256": sha256}
        if fine:
            check_written(tmp_path / "x", **call)
        else:
            with pytest.raises(EncodeMismatch, match="not the ones that went in"):
                check_written(tmp_path / "x", **call)


def test_a_rate_that_is_not_declared_is_found(tmp_path):
    make(tmp_path / "x", AudioFormat.WAV, tone_pcm(1000))
    with pytest.raises(EncodeMismatch, match="22050 Hz, not 24000 Hz"):
        check_written(tmp_path / "x", audio_format=AudioFormat.WAV, sample_rate_hz=24000, samples=1000, sha256="")


def test_a_wav_over_4_gib_is_refused_before_a_sample_is_read(tmp_path):
    def never():
        msg = "the blocks were read"
        raise AssertionError(msg)
        yield

    hours = 30
    spec = EncodeSpec(AudioFormat.WAV, 24000, hours * 3600 * 24000, TAGS)
    with pytest.raises(BadOutput, match=r"24\.9 h at 24000 Hz, this audio has 30\.0 h; use flac"):
        encode(tmp_path / "x", never(), spec)
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize("audio_format", FORMATS)
def test_what_a_format_cannot_hold_is_refused(audio_format):
    with pytest.raises(BadOutput, match="too short"):
        check_fits(audio_format, sample_rate_hz=24000, samples=239)
    if CONTAINERS[audio_format].rates_hz is None:
        check_fits(audio_format, sample_rate_hz=30_000, samples=300)
    else:
        with pytest.raises(BadOutput, match=r"cannot hold 30000 Hz.*22050"):
            check_fits(audio_format, sample_rate_hz=30_000, samples=300)
