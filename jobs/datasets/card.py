"""README.md of a dataset: a head that the Hugging Face hub reads, and what people should know. Pure."""

from __future__ import annotations

import json

from jobs.datasets.info import DatasetInfo
from jobs.language_tags import base_language


def card_text(info: DatasetInfo, paths: str) -> str:
    """The card. `paths` is the pattern of the train split's files; its head says which they are, so none is guessed."""
    languages = sorted({base_language(language) for language in info.languages})
    head = [
        "---",
        f"pretty_name: {json.dumps(info.name)}",
        "language:",
        *(f"- {json.dumps(language)}" for language in languages),
        "license: other",
        "task_categories:",
        "- text-to-speech",
        "- automatic-speech-recognition",
        "tags:",
        "- synthetic",
        "- audio",
        "configs:",
        "- config_name: default",
        "  data_files:",
        "  - split: train",
        f"    path: {json.dumps(paths)}",
        "---",
    ]
    return "\n".join([*head, "", *_body(info)]) + "\n"


def _body(info: DatasetInfo) -> list[str]:
    rates = ", ".join(f"{rate} Hz" for rate in info.sample_rates_hz)
    lines = [
        f"# {info.name}",
        "",
        "All speech in this dataset is synthetic: a text-to-speech model made it, no person was recorded saying it.",
        "",
        f"{info.utterances} utterances, {info.hours:.3f} hours, mono, 16 bit, {rates or 'no audio yet'}.",
        "",
        "## Sources",
        "",
        "| job | title | model | voice | utterances | left out | licence of the voice |",
        "|---|---|---|---|---|---|---|",
    ]
    for source in info.sources:
        out = ", ".join(f"{count} {why}" for why, count in source.left_out.items()) or "none"
        cells = (source.job, source.title, source.model, source.voice, str(source.utterances), out, source.licence)
        lines.append("| " + " | ".join(_cell(cell) for cell in cells) + " |")
    lines += [
        "",
        "The licence of a voice may restrict what is trained with its speech; that of the texts is their authors'.",
        "",
        "`entries/` has everything known of each utterance (seed, model, checks, checksum of its audio) and, in",
        "`left-out.jsonl`, what is not here and why.",
    ]
    return lines


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split()) or "-"
