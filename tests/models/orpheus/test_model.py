"""Card, loader and front end; the registry by folder."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from engine.errors import DeviceUnavailable
from engine.request import FinishReason
from engine.tokens.inputs import TokenInputs
from models import hub, registry
from models.base import Prompt
from models.errors import BadPrompt, BadWeights, MissingExtra, ModelError, UnknownModel, UnknownVoice
from models.orpheus.model import VOICES, OrpheusModel


@pytest.fixture(scope="module")
def loaded(tiny_orpheus: Path) -> OrpheusModel:
    model = registry.load(str(tiny_orpheus))
    assert isinstance(model, OrpheusModel)
    return model


@pytest.fixture
def copied(tiny_orpheus: Path, tmp_path: Path) -> Path:
    """A folder that a test may change."""
    return Path(shutil.copytree(tiny_orpheus, tmp_path / "copy"))


@pytest.fixture
def no_hub(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, object]]:
    """A hub whose cache is empty and that nobody reaches; returns the calls."""
    import huggingface_hub
    from huggingface_hub.errors import LocalEntryNotFoundError

    calls: list[dict[str, object]] = []

    def refuse(repo: str, **options: object) -> str:
        calls.append({"repo": repo, **options})
        raise LocalEntryNotFoundError("no connection")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", refuse)
    return calls


def prompt(text: str = "Good morning.", **changes: object) -> Prompt:
    return Prompt(**({"spoken": text, "voice": "tara", "language": "en"} | changes))  # type: ignore[arg-type]


def test_a_segment_becomes_rows_a_budget_and_sampling(loaded):
    prepared = loaded.prepare(prompt("Good morning"))
    inputs = prepared.inputs
    assert isinstance(inputs, TokenInputs)
    assert prepared.length_hint == len(inputs.ids)
    assert inputs.ids[:2] == (128259, 128000)
    assert inputs.ids == loaded.prepare(prompt("Good morning.")).inputs.ids
    assert inputs.ids != loaded.prepare(prompt(voice="leo")).inputs.ids
    sampling = inputs.sampling
    assert (sampling.temperature, sampling.top_p, sampling.penalty, sampling.penalty_window) == (0.6, 0.8, 1.3, 0)
    assert (sampling.top_k, sampling.min_p, sampling.ras_window) == (0, 0.0, 0)
    assert inputs.budget_tokens == 7 * 51  # 3 s and 13 characters: 4.3 s
    assert (inputs.min_tokens, inputs.budget_finish) == (7, FinishReason.BUDGET)


def test_the_longest_segment_fits(loaded):
    long = loaded.prepare(prompt("word " * 119 + "word.")).inputs
    assert len(long.ids) + long.budget_tokens <= loaded.program.max_positions
    usual = loaded.prepare(prompt("word " * 59 + "word")).inputs
    assert usual.budget_tokens == 7 * 387  # 300 characters: 33 s, not shortened


@pytest.mark.parametrize(
    ("bad", "text"),
    [
        (prompt("..."), "nothing to speak"),
        (prompt("a <b>word</b>"), "'<b>', which is no sound"),
        (prompt("word " * 121), "605 characters is too long; split it below 300"),
        (prompt("字" * 600), "at most 1024 are possible"),
        (prompt(language="de"), "speaks en, not 'de'"),
        (prompt(speed=1.1), "only its own pace"),
    ],
)
def test_what_cannot_be_spoken_is_refused(loaded, bad, text):
    with pytest.raises(BadPrompt, match=text):
        loaded.prepare(bad)


def test_a_prompt_that_leaves_no_room_for_a_frame_is_refused(copied, loaded):
    rows = len(loaded.prepare(prompt()).inputs.ids)
    config = json.loads((copied / "config.json").read_text())
    (copied / "config.json").write_text(json.dumps(config | {"max_position_embeddings": rows + 7}))
    model = registry.load(str(copied))
    assert model.prepare(prompt()).inputs.budget_tokens == 7
    with pytest.raises(BadPrompt, match=r"leaves room for . ids .* split the text"):
        model.prepare(prompt("Good morning to you all, and to your dogs."))


def test_an_unknown_voice_is_answered_with_the_known(loaded):
    with pytest.raises(UnknownVoice, match="no voice 'Tara'; it has tara, leah, jess, leo, dan, mia, zac, zoe"):
        loaded.prepare(prompt(voice="Tara"))


def test_card_and_loaded_model_say_the_same(tiny_orpheus, loaded):
    card = registry.card(str(tiny_orpheus))
    assert card == loaded.card
    assert (card.name, card.install_hint, card.lane) == (str(tiny_orpheus), "", "token")
    assert card.numerics == "orpheus1-fp32-cpu"
    assert tuple(voice.name for voice in card.voices) == VOICES
    assert card.devices == ("cuda", "cpu")
    assert registry.card(str(tiny_orpheus), device="cuda").numerics == "orpheus1-bf16-cuda"
    assert registry.card(str(tiny_orpheus), device="cuda:1", precision="fp32").numerics == "orpheus1-fp32-cuda"
    with pytest.raises(ModelError, match="precision 'int8' is not known to model orpheus"):
        registry.card(str(tiny_orpheus), precision="int8")


def test_bf16_on_a_cpu_when_asked(tiny_orpheus):
    model = registry.load(str(tiny_orpheus), precision="bf16")
    assert model.program.kv.dtype == torch.bfloat16
    assert model.card.numerics == "orpheus1-bf16-cpu"


def test_a_folder_is_known_by_its_absolute_path(tiny_orpheus, monkeypatch):
    monkeypatch.chdir(tiny_orpheus.parent)
    assert registry.card(f"./{tiny_orpheus.name}") == registry.card(str(tiny_orpheus))
    with pytest.raises(UnknownModel, match=rf"a folder of weights is written as a path: \./{tiny_orpheus.name}"):
        registry.card(tiny_orpheus.name)


def test_a_folder_of_something_else_is_refused_with_what_it_is(tmp_path):
    with pytest.raises(UnknownModel, match="is not a folder"):
        registry.card(str(tmp_path / "nothing"))
    with pytest.raises(UnknownModel, match=r"has no config\.json"):
        registry.card(str(tmp_path))
    config = tmp_path / "config.json"
    for content, text in (("{", "is not JSON"), ("[]", "holds a list instead of an object")):
        config.write_text(content)
        with pytest.raises(UnknownModel, match=text):
            registry.card(str(tmp_path))
    config.write_text(json.dumps({"architectures": ["LlamaForCausalLM"], "vocab_size": 128256}))
    text = r"architectures \['LlamaForCausalLM'\] and vocab_size 128256: none of .*Orpheus \(LlamaForCausalLM with"
    with pytest.raises(UnknownModel, match=text):
        registry.load(str(tmp_path))


def test_the_revision_follows_the_weights(tiny_orpheus, copied):
    first = registry.card(str(tiny_orpheus)).voices[0].revision
    assert registry.card(str(copied)).voices[0].revision == first
    weights = copied / "model.safetensors"
    data = bytearray(weights.read_bytes())
    data[1000:] = bytes(len(data) - 1000)  # same names, sizes and header
    weights.write_bytes(data)
    second = registry.card(str(copied)).voices[0].revision
    codec = copied / "snac" / "pytorch_model.bin"
    codec.write_bytes(codec.read_bytes() + b"\0")
    third = registry.card(str(copied)).voices[0].revision
    assert len({first, second, third}) == 3


def test_what_lacks_in_a_folder_is_told(copied, no_hub):
    shutil.rmtree(copied / "snac")
    card = registry.card(str(copied))
    assert "codec of model orpheus is neither in" in card.install_hint
    assert "hf download hubertsiuzdak/snac_24khz" in card.install_hint
    assert card.voices[0].revision == hub.ABSENT
    with pytest.raises(MissingExtra, match="neither in"):
        registry.load(str(copied))
    (copied / "tokenizer.json").unlink()
    assert "lacks files of an Orpheus checkpoint" in registry.card(str(copied)).install_hint


def test_the_codec_of_the_hub_serves_a_folder_without_one(copied, tmp_path, monkeypatch):
    import huggingface_hub

    snapshot = tmp_path / "snapshots" / "0123456789abcdef0123"
    snapshot.parent.mkdir()
    shutil.move(copied / "snac", snapshot)
    monkeypatch.setattr(huggingface_hub, "snapshot_download", lambda repo, **_: str(snapshot))
    card = registry.card(str(copied))
    assert card.install_hint == ""
    assert card.voices[0].revision.endswith("-0123456789abcdef")
    assert registry.load(str(copied)).card == card


def test_without_weights_the_way_to_them_is_told(no_hub):
    card = registry.card("orpheus")
    for part in ("hf download canopylabs/orpheus-3b-0.1-ft", "hf download hubertsiuzdak/snac_24khz", "--model DIR"):
        assert part in card.install_hint
    assert not any(voice.installed for voice in card.voices)
    with pytest.raises(MissingExtra, match="not on this machine"):
        registry.load("orpheus")
    assert all(call["local_files_only"] for call in no_hub)
    with pytest.raises(MissingExtra, match=r"cannot be downloaded \(no connection\); accept its licence"):
        registry.fetch("orpheus")
    assert "local_files_only" not in no_hub[-1]


def test_only_what_comes_from_a_hub_is_fetched(tiny_orpheus, no_hub):
    registry.fetch("fake")
    registry.fetch(str(tiny_orpheus))
    assert no_hub == []


def test_weights_that_do_not_fit_their_config_are_refused(copied):
    config = json.loads((copied / "config.json").read_text())
    (copied / "config.json").write_text(json.dumps(config | {"intermediate_size": 64}))
    with pytest.raises(BadWeights, match="of another shape"):
        registry.load(str(copied))


def test_devices_that_are_not_there(tiny_orpheus):
    with pytest.raises(DeviceUnavailable, match="runs on cuda and cpu, not on 'mps'"):
        registry.load(str(tiny_orpheus), device="mps")
    absent = f"cuda:{torch.cuda.device_count()}"
    with pytest.raises(DeviceUnavailable, match="torch sees"):
        registry.load(str(tiny_orpheus), device=absent)


def test_cuda_without_triton_is_told(tiny_orpheus, monkeypatch):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    monkeypatch.setitem(sys.modules, "triton", None)
    with pytest.raises(MissingExtra, match=r"needs the package triton on CUDA.* pip install 'triton>=3\.6,<4'"):
        registry.load(str(tiny_orpheus), device="cuda:0")


def test_cards_import_no_torch_and_no_transformers(tiny_orpheus):
    code = (
        "import sys; from models import registry\n"
        f"registry.card({str(tiny_orpheus)!r}); registry.card('orpheus')\n"
        "assert not {'torch', 'transformers', 'tokenizers', 'safetensors'} & set(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_random_weights_have_the_full_shape_and_no_front_end(monkeypatch):
    from models.orpheus import shape
    from models.orpheus.model import load_random

    tiny = {name: getattr(shape.ORPHEUS_3B, name) for name in type(shape.ORPHEUS_3B).__slots__}
    tiny |= {"hidden": 32, "layers": 1, "query_heads": 2, "kv_heads": 1, "head_dim": 16, "ffn": 32}
    monkeypatch.setattr(shape, "ORPHEUS_3B", type(shape.ORPHEUS_3B)(**tiny))
    model = load_random(device="cpu")
    assert model.program.grammar.vocab == 28682
    assert model.program.codec.samples_per_frame == 2048
    assert model.card.numerics == "orpheus1-fp32-cpu-random0"
    with pytest.raises(BadPrompt, match="random weights and no tokenizer"):
        model.prepare(prompt())
