"""The SNAC config: what is read, what is worked out, what is refused."""

from __future__ import annotations

import json

import pytest

from models.codecs.snac.config import SnacConfig
from models.errors import BadWeights
from tests.models.codecs.tiny_snac import TINY_CONFIG

PUBLISHED = TINY_CONFIG | {"encoder_dim": 48, "decoder_dim": 1024}


def test_the_published_config_gives_the_defaults():
    config = SnacConfig.from_dict(dict(PUBLISHED))
    assert config == SnacConfig()
    assert config.rates == (32, 256, 1024, 2048)
    assert config.widths == (1024, 512, 256, 128, 64)
    assert (config.samples_per_frame, config.context_frames) == (2048, 3)


def test_fewer_and_smaller_strides_reach_over_more_frames():
    assert SnacConfig(decoder_rates=(2, 2)).context_frames == 9  # by hand: 34 and 37 latent steps, 4 a frame


def test_latent_width_may_be_said():
    assert SnacConfig.from_dict(PUBLISHED | {"latent_dim": 512}).latent_dim == 512


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("attn_window_size", 32),
        ("vq_strides", [8, 4, 2, 1]),
        ("depthwise", False),
        ("decoder_rates", [7, 7, 3, 3]),
        ("decoder_rates", []),
        ("decoder_rates", 8),
        ("decoder_dim", 1000),
        ("decoder_dim", "1024"),
        ("codebook_size", 0),
        ("codebook_dim", True),
        ("sampling_rate", None),
        ("noise", 1),
        ("encoder_dim", None),
        ("encoder_rates", []),
    ],
)
def test_another_kind_of_model_is_refused_by_name(name, value):
    with pytest.raises(BadWeights, match=name):
        SnacConfig.from_dict(PUBLISHED | {name: value})


def test_missing_and_unknown_names_are_named():
    found = dict(PUBLISHED) | {"width": 3}
    del found["noise"]
    with pytest.raises(BadWeights, match=r"missing \['noise'\], unknown \['width'\]"):
        SnacConfig.from_dict(found)


@pytest.mark.parametrize("text", ["{", "[1]", "\udcff"])
def test_an_unreadable_file_is_named(tmp_path, text):
    path = tmp_path / "config.json"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(BadWeights, match=r"config\.json"):
        SnacConfig.read(path)


def test_a_bad_value_names_the_file(tmp_path):
    path = tmp_path / "config.json"
    path.write_text(json.dumps(PUBLISHED | {"noise": "yes"}), "utf-8")
    with pytest.raises(BadWeights, match=r"config\.json: SNAC config: noise is yes"):
        SnacConfig.read(path)


def test_no_file(tmp_path):
    with pytest.raises(BadWeights, match=r"config\.json"):
        SnacConfig.read(tmp_path / "config.json")
