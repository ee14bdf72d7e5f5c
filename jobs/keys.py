"""Every Redis key, stream name and object path, with what is kept there. The only file that makes them.

Redis (`<job>`, `<worker>` are ids; one Redis, not a Redis Cluster: the scripts touch keys of several jobs)

| key | type | content | written by | goes away |
|---|---|---|---|---|
| tts:jobs | zset | job → time it was created | create_job | forget |
| tts:open | set | jobs that are not at their end | scripts | their end, forget |
| tts:open-built, tts:swept | strings | that tts:open was built anew, counts were looked at | sweep | soon after |
| tts:job:<job> | hash | spec, state, counters | scripts | forget; all of a speech request: TTL after its end |
| tts:speech | set | speech requests that are not over; they are not in tts:jobs | speak | their end |
| tts:seg:<job> | hash | segment → SegmentTask JSON; failed ones stay | enqueue, speak, … | finish, cancel, forget |
| tts:q:<job> | zset | waiting segment → order (given-back ones in front) | enqueue, give back | lease, cancel |
| tts:left:<job> | hash | chapter → segments not finished | enqueue, finish | forget |
| tts:assembled:<job> | set | chapters whose audio is in the store | chapter_assembled | retry, speak_again, forget |
| tts:done:<job> | bitmap | segment is finished (done or failed) | finish | rule, retry, speak_again, forget |
| tts:res:<job> | hash | segment → SegmentResult JSON | finish, rule | rule, retry, speak_again, forget |
| tts:starts:<job> | hash | step → how often started since the job moved on | step_started | its end, when it moves on |
| tts:ready:<class> | zset | lane (job) → virtual time; 0 live, 1 normal, 2 bulk | enqueue, speak, lease | when empty |
| tts:vnow:<class> | string | virtual time of the class: where a new lane starts | lease, speak | – |
| tts:workers | zset | worker → last heartbeat (server time, s) | register, beat | bury |
| tts:worker:<worker> | hash | WorkerInfo JSON, the last Beat, what the last lease gave | register, beat, lease | bury |
| tts:held:<worker> | set | `<job>|<segment>` this worker holds | lease | finish, give back |
| tts:blame | hash | `<job>|<segment>` → how often suspected | crashed | finish, forget |
| tts:suspects | list | groups of suspects to be spoken in small company | crashed | lease |
| tts:totals | hash | what is counted (`jobs/figures.py`) → how often | scripts, CPU workers | – |
| tts:outbox | stream + group | steps for the CPU workers | scripts | step_sent |
| tts:dead | stream, ≤ 10,000 | dead letters: segment, reason | crashed, finish | – |
| tts:wake | stream, ≤ 100 | one entry whenever something was queued | scripts | – |
| tts:events:<job> | stream | public, see docs/streams.md | scripts | forget, TTL after the end |
| tts:audio:<job> | stream | public, see docs/streams.md | workers | forget, TTL after the end; when full, sooner |
| tts:audio-bytes, -ended, -total | hash, zset, string | job → bytes; when they go; sum | workers | forget, or full |
| tts:tokens | hash | SHA-256 of a secret → Token JSON | add | remove |
| tts:rate:<token> | string | when its requests per minute are all free again | count_request | then |
| tts:chars:<token> | hash | day (UTC), characters counted on it, last call | count_chars | at the day's end |
| tts:speaking:<token> | zset | speech request → when its place is free, unless renewed | speaking | its end, or then |
| tts:claim:<batch> | string | which server has a process for it | hold | leave, or some seconds after |
| tts:c:* | – | Celery's own keys (steps of jobs) | Celery | – |

Store (`docs/streams.md` section 3)

| object | content |
|---|---|
| jobs/<job>/source, plan.jsonl, cover, report.json | what was submitted, how it was read, how it went |
| jobs/<job>/chapters/NNN-title.ext, book.m4b, items/… | finished audio |
| jobs/<job>/….srt, .vtt, .lrc beside each of them, times.json | subtitles; when everything is heard (`docs/marks.md`) |
| jobs/<job>/places.json, book-read-along.epub | where sentences stand in the source's pages; the epub with its audio |
| jobs/<job>/mastering/NNN.json, book.json | how finished files were mastered and what they measure |
| jobs/<job>/manifest.jsonl, datasets/<layout>/… | every utterance; the same as datasets (`docs/datasets.md`) |
| takes/<aa>/<take>.flac, .json | one attempt at a segment and what is known of it; an unusable one has no audio |
| takes/<aa>/<take>.<recogniser>.heard.json | what a speech recogniser heard in it |
| voices/<voice>/clip.flac, voice.json | a reference clip and who agreed to what; the record is written last |
| files/<file>/content, file.json | an uploaded file or what came of a batch; the record is written last |
| batches/<batch>/….json, lines.jsonl | a batch of speech requests (`jobs/batches/records.py`), each written once |
| batches-open/<batch>, batch-audio/<batch>/… | it has not ended yet; audio in formats that jobs do not write |
"""

from __future__ import annotations

import hashlib
import re
import unicodedata

PREFIX = "tts:"
CELERY_PREFIX = "tts:c:"
JOBS = "tts:jobs"
OPEN = "tts:open"
OPEN_BUILT = "tts:open-built"
SPEECH = "tts:speech"
WORKERS = "tts:workers"
BLAME = "tts:blame"
SUSPECTS = "tts:suspects"
TOTALS = "tts:totals"
SWEPT = "tts:swept"
OUTBOX = "tts:outbox"
OUTBOX_GROUP = "pump"
DEAD = "tts:dead"
WAKE = "tts:wake"
AUDIO_BYTES = "tts:audio-bytes"
AUDIO_TOTAL = "tts:audio-total"
AUDIO_ENDED = "tts:audio-ended"
TOKENS = "tts:tokens"
CLAIMS = "tts:claim:"


def job(job: str) -> str:
    """Hash of one job."""
    return f"tts:job:{job}"


def segments(job: str) -> str:
    """Hash of the unfinished segments of a job."""
    return f"tts:seg:{job}"


def waiting(job: str) -> str:
    """ZSET of the waiting segments of a job."""
    return f"tts:q:{job}"


def left(job: str) -> str:
    """Hash of unfinished segments by chapter."""
    return f"tts:left:{job}"


def assembled(job: str) -> str:
    """Set of assembled chapters."""
    return f"tts:assembled:{job}"


def done(job: str) -> str:
    """Bitmap of finished segments."""
    return f"tts:done:{job}"


def results(job: str) -> str:
    """Hash of segment results."""
    return f"tts:res:{job}"


def starts(job: str) -> str:
    """Hash of how often each step of a job was started."""
    return f"tts:starts:{job}"


def ready(priority_class: int) -> str:
    """ZSET of lanes with waiting work of one class."""
    return f"tts:ready:{priority_class}"


def virtual_now(priority_class: int) -> str:
    """Virtual time of one class."""
    return f"tts:vnow:{priority_class}"


def worker(worker: str) -> str:
    """Hash of one worker."""
    return f"tts:worker:{worker}"


def held(worker: str) -> str:
    """Set of what one worker holds."""
    return f"tts:held:{worker}"


def events(job: str) -> str:
    """Public event stream of a job."""
    return f"tts:events:{job}"


def audio(job: str) -> str:
    """Public live audio stream of a job."""
    return f"tts:audio:{job}"


def token_use(kind: str, token: str) -> str:
    """What a token used: its `rate`, its `chars`, its places for `speaking`."""
    return f"tts:{kind}:{token}"


def job_object(job: str, name: str) -> str:
    """Store key of an object that belongs to one job."""
    return f"jobs/{job}/{name}"


TAKES = "takes/"


def take_audio(take: str) -> str:
    """Store key of a take's audio."""
    return f"{TAKES}{take[:2]}/{take}.flac"


def take_info(take: str) -> str:
    """Store key of what is known of a take."""
    return f"{TAKES}{take[:2]}/{take}.json"


def take_heard(take: str, asr: str) -> str:
    """Store key of what a speech recogniser heard in a take. One that is a folder also has a hash of its whole path."""
    name = slug(asr)
    if "/" in asr:
        digest = hashlib.blake2b(asr.encode(), digest_size=4).hexdigest()
        name = f"{slug(asr.rstrip('/').rpartition('/')[2], 40)}-{digest}"
    return f"{TAKES}{take[:2]}/{take}.{name}.heard.json"


def chapter_object(job: str, chapter: int, title: str, extension: str) -> str:
    """Store key of a chapter's audio: numbered from 001, so that every listing is in reading order."""
    return job_object(job, f"chapters/{chapter + 1:03d}-{slug(title) or 'chapter'}.{extension}")


def item_object(job: str, segment: int, item: str, extension: str) -> str:
    """Store key of a JSONL item's audio; no dot in the base name (dataset tools cut there)."""
    return job_object(job, f"items/{segment + 1:06d}-{slug(item) or 'item'}.{extension}")


def places(job: str) -> str:
    """Store key of where the sentences of a job with `--read-along` stand in the documents of its source."""
    return job_object(job, "places.json")


def read_along(job: str) -> str:
    """Store key of the epub with its audio."""
    return job_object(job, "book-read-along.epub")


def chapter_master(job: str, chapter: int) -> str:
    """Store key of how the files of a chapter were mastered and what they measure: for the job's own later steps."""
    return job_object(job, f"mastering/{chapter + 1:03d}.json")


def book_master(job: str) -> str:
    """The same of the files of the whole book."""
    return job_object(job, "mastering/book.json")


def manifest(job: str) -> str:
    """Store key of the manifest of a finished job: one line for each utterance."""
    return job_object(job, "manifest.jsonl")


def dataset_prefix(job: str, layout: str) -> str:
    """Where a job's own dataset of one layout is in its store; the dataset's files are named below it."""
    return job_object(job, f"datasets/{layout}/")


DATASET_INFO = "dataset.json"
DATASET_ENTRIES = "entries/"
"""What a dataset is: the first and last file that is written of it; and where what it holds is, a folder a job."""


def dataset_entries(job: str) -> str:
    """What a dataset holds of one job."""
    return f"{DATASET_ENTRIES}{job}/"


def dataset_part(job: str, part: int) -> str:
    """The part of that with a number counted from 0: written when all the audio that it names is there."""
    return f"{dataset_entries(job)}{part:06d}.jsonl"


def dataset_left_out(job: str) -> str:
    """What a dataset does not hold of one job, and why."""
    return f"{dataset_entries(job)}left-out.jsonl"


FILES = "files/"
BATCHES = "batches/"  # all that is kept of batches but their audio
PURGES = "purges/"  # <job>: its objects are being deleted; whoever finds it goes on
OPEN_BATCHES = "batches-open/"


def file_content(file: str) -> str:
    """Store key of what is in a file."""
    return f"{FILES}{file}/content"


def file_record(file: str) -> str:
    """Store key of what is known of a file: where it is, the file is whole."""
    return f"{FILES}{file}/file.json"


def batch_object(batch: str, name: str) -> str:
    """Store key of an object that belongs to one batch."""
    return f"{BATCHES}{batch}/{name}"


def open_batch(batch: str) -> str:
    """Store key of the sign that a batch has not ended."""
    return f"{OPEN_BATCHES}{batch}"


def batch_audio(batch: str, line: int, extension: str) -> str:
    """Store key of the audio of a line (numbered from 1) of a batch, in a format that its job does not write."""
    return f"{batch_audios(batch)}{line:06d}.{extension}"


def batch_audios(batch: str) -> str:
    """Where such audio of one batch is."""
    return f"batch-audio/{batch}/"


VOICES = "voices/"


def voice_object(voice: str, name: str) -> str:
    """Store key of an object that belongs to one reference clip."""
    return f"{VOICES}{voice}/{name}"


def probe(server: str) -> str:
    """Store key of a small object by which a server finds out whether a store can be written; it deletes it again."""
    return f"probes/{server}"


def slug(text: str, max_chars: int = 60) -> str:
    """A short safe file name part: letters, digits and dashes; other scripts keep their letters."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return re.sub(r"[\W_]+", "-", folded).strip("-")[:max_chars].strip("-")
