"""Listens to a part of a chapter: the body of a CHECK step. Idempotent: what was heard already is not heard again."""

from __future__ import annotations

import logging

from jobs.checks.hearing import Heard, HeardWord, parts_of, read_heard, write_heard
from jobs.checks.second_look import takes_to_hear
from jobs.errors import BadOption
from jobs.language_tags import base_language
from jobs.plan_store import load_plan
from jobs.spec import JobRecord
from jobs.takes import Pcm, TakeInfo, load_take
from jobs.tasks import tasks_of
from workers.context import Context
from workers.recogniser import Recogniser, load_recogniser

log = logging.getLogger(__name__)


def hear_part(context: Context, record: JobRecord, chapter: int, part: int) -> None:
    """Write what the job's recogniser hears in the takes of one part of a chapter, where that is not in the store yet.

    Parts are those of `jobs.checks.hearing.parts_of` over the chapter's segments in reading order; the takes are those
    that `jobs.checks.second_look.takes_to_hear` names.

    Raises:
        ObjectMissing, ObjectDamaged: a take is not in the store as it should be.
        MissingExtra, BadOption: the recogniser cannot be loaded, or does not know the language of a take.
    """
    asr = record.spec.checks.asr
    store = context.store(record.spec.store_url)
    parts = parts_of(tasks_of(load_plan(store, record.job), record.spec, record.job, chapter=chapter))
    if not asr or part >= len(parts):
        log.info("job %s chapter %s has no part %s to listen to", record.job, chapter, part)
        return
    results = context.truth.results(record.job)
    spoken = [(first, results[first.segment]) for first in parts[part] if first.segment in results]
    takes = [take for first, result in spoken for take in takes_to_hear(store, first, result)]
    for take in dict.fromkeys(takes):
        if read_heard(store, take, asr) is None:
            info, pcm = load_take(store, take)
            write_heard(store, hear(load_recogniser(asr), info, pcm))


def hear(recogniser: Recogniser, info: TakeInfo, pcm: Pcm) -> Heard:
    """What a recogniser hears in one take ([S] int16), and what of it speaks against the take.

    Raises:
        BadOption: it does not know the language of the take.
    """
    from jobs.checks.comparison import compare, hearing_reasons, scores_of  # extra [asr]: this file is read without it
    from jobs.checks.words import without_hallucination

    language = base_language(info.origin.language)
    try:
        listened = recogniser.listen(pcm, info.sample_rate_hz, language)
    except BadOption as error:
        msg = f"take {info.take} cannot be listened to: {error}"
        raise BadOption(msg) from error
    said = without_hallucination(listened.transcript, listened.words)
    found = compare(info.origin.spoken, said, info.origin.language)
    guess = (listened.guess, listened.guess_probability)
    return Heard(
        take=info.take,
        asr=recogniser.name,
        language=language,
        transcript=listened.transcript,
        words=tuple(HeardWord(text=text, start_s=start, end_s=end) for text, start, end in listened.words),
        hits=found.same,
        word_errors=found.errors,
        word_error_rate=round(found.error_rate, 4),
        reasons=hearing_reasons(found, language=language, guess=guess),
        scores=scores_of(found, guess),
    )
