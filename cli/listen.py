"""`tts-batch listen`: a job's audio in reading order, while it is made or afterwards."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from cli.options import BrokerOption, JobArgument, JsonOption, shared

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cli.output import Output
    from jobs.listen import Sound

EXAMPLES = """\
Examples:

  tts-batch listen book-3f9a1c2e --play

  tts-batch listen book-3f9a1c2e --wav > so-far.wav

  tts-batch listen book-3f9a1c2e --from now | aplay -f S16_LE -r 22050
"""


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog=EXAMPLES)(listen)


def listen(  # one parameter per option is how Typer declares a command line
    context: typer.Context,
    job: JobArgument,
    start: Annotated[str, typer.Option("--from", metavar="start|now", help="Where to begin.")] = "start",
    wav: Annotated[bool, typer.Option("--wav", help="Write a WAV header first; else raw s16le mono PCM.")] = False,
    play: Annotated[bool, typer.Option("--play", help="Play it here instead of writing it.")] = False,
    as_json: JsonOption = False,
    broker: BrokerOption = None,
) -> None:
    """Write a job's audio to standard output, in reading order, until the job has said everything.

    With --json the last line on stderr says rate and length.
    """
    from cli.session import connect
    from jobs.errors import BadOption
    from jobs.listen import Listener
    from jobs.plan_store import load_plan

    options = shared(context)
    if start not in {"start", "now"}:
        msg = f"--from {start!r} is not possible; use start or now"
        raise BadOption(msg)
    with connect(options.broker) as session:
        record = session.broker.truth.job(job)
        store = session.store_of(record)
        listener = Listener(session.broker.truth, session.broker.streams, store, job=job, plan=load_plan(store, job))
        sounds = listener.sounds(listener.now()) if start == "now" else listener.sounds()
        if play:
            _play(sounds)
        else:
            _write(options.output, sounds, wav=wav)


def _write(output: Output, sounds: Iterator[Sound], *, wav: bool) -> None:
    import json

    from jobs.wav_header import endless_wav_header

    samples, rate_hz = 0, 0
    target = output.raw()
    try:
        for sound in sounds:
            if wav and not rate_hz:
                target.write(endless_wav_header(sound.sample_rate_hz))
            target.write(sound.samples.astype("<i2").tobytes())
            target.flush()
            samples, rate_hz = samples + sound.samples.size, sound.sample_rate_hz
    except BrokenPipeError:
        raise typer.Exit(0) from None  # the reader has heard enough
    if output.as_json:
        output.say(json.dumps({"samples": samples, "sample_rate_hz": rate_hz, "encoding": "pcm_s16le"}))


def _play(sounds: Iterator[Sound]) -> None:
    from jobs.errors import MissingExtra

    try:
        from pydub import AudioSegment
        from pydub.playback import play
    except ImportError as error:
        msg = "--play needs pydub and a player: pip install 'tts-batch[play]'; or pipe the audio into aplay"
        raise MissingExtra(msg) from error
    for sound in sounds:
        data = sound.samples.astype("<i2").tobytes()
        play(AudioSegment(data, sample_width=2, frame_rate=sound.sample_rate_hz, channels=1))
