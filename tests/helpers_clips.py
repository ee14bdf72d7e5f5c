"""Recordings for tests of reference voices: a gliding tone that rises and falls like speech, in any container."""

from __future__ import annotations

import io

import av
import numpy as np
import soundfile

RATE_HZ = 24_000


def voice(seconds: float = 4.0, rate_hz: int = RATE_HZ, channels: int = 1, peak: float = 0.3) -> np.ndarray:
    """[S, C] float32 samples."""
    times_s = np.arange(round(seconds * rate_hz)) / rate_hz
    loudness = 0.55 + 0.45 * np.sin(2 * np.pi * 3 * times_s)
    mono = peak * loudness * np.sin(2 * np.pi * 180 * times_s + 4 * np.sin(2 * np.pi * 0.7 * times_s))
    return np.repeat(mono.astype(np.float32)[:, None], channels, axis=1)


def sound_file(samples: np.ndarray, rate_hz: int = RATE_HZ, kind: str = "WAV", subtype: str = "PCM_16") -> bytes:
    """Samples as a file of a kind that libsndfile writes."""
    buffer = io.BytesIO()
    soundfile.write(buffer, samples, rate_hz, format=kind, subtype=subtype)
    return buffer.getvalue()


def encoded(samples: np.ndarray, rate_hz: int, muxer: str, codec: str, *, picture: bool = False) -> bytes:
    """Samples as a file of FFmpeg's; with `picture` it has a video stream too."""
    buffer = io.BytesIO()
    layout = "mono" if samples.shape[1] == 1 else "stereo"
    with av.open(buffer, "w", format=muxer) as output:
        video = output.add_stream("mpeg4", rate=25, width=64, height=64, pix_fmt="yuv420p") if picture else None
        stream = output.add_stream(codec, rate=rate_hz, layout=layout)
        for _ in range(25 if video is not None else 0):
            output.mux(video.encode(av.VideoFrame.from_ndarray(np.zeros((64, 64, 3), np.uint8), format="rgb24")))
        frame = av.AudioFrame.from_ndarray(np.ascontiguousarray(samples.T), format="fltp", layout=layout)
        frame.sample_rate = rate_hz
        resampler = av.AudioResampler(format=stream.codec_context.format, layout=layout, rate=rate_hz)
        for given in (frame, None):
            for part in resampler.resample(given):
                output.mux(stream.encode(part))
        for each in filter(None, (stream, video)):
            output.mux(each.encode(None))
    return buffer.getvalue()
