"""Runs the package qwen-tts on tiny random checkpoints, in a process of its own: it wants another transformers.

    python tests/reference/qwen3_tts.py PACKAGES OUT

PACKAGES holds qwen-tts 0.1.1 and transformers 4.57.3. Writes checkpoints in the published layout to OUT/<kind>, and to
OUT/<kind>-<case>.npz what the reference makes of a prompt: rows, what follows, hidden states, frames, all in float32.
"""

from __future__ import annotations

import importlib.machinery
import sys
import types
import warnings
from pathlib import Path

CODES = 64
GROUPS = 6
FRAMES = 50
STUBS = ("librosa", "librosa.filters", "torchaudio", "torchaudio.compliance", "torchaudio.compliance.kaldi", "sox")


class Stub(types.ModuleType):
    """Stands for a package that reads audio files: nothing of it is called here."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Stub(f"{self.__name__}.{name}")


def import_reference(packages):
    sys.path.insert(0, packages)
    warnings.simplefilter("ignore")
    for name in STUBS:
        stub = Stub(name)
        stub.__spec__ = importlib.machinery.ModuleSpec(name, None)
        stub.__path__ = []
        sys.modules[name] = stub
    from qwen_tts.core.models import configuration_qwen3_tts, modeling_qwen3_tts

    return configuration_qwen3_tts.Qwen3TTSConfig, modeling_qwen3_tts.Qwen3TTSForConditionalGeneration


def decoder(vocab, hidden, layers):
    return {
        "vocab_size": vocab,
        "hidden_size": hidden,
        "intermediate_size": 2 * hidden,
        "num_hidden_layers": layers,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 16,
        "hidden_act": "silu",
        "max_position_embeddings": 4096,
        "rms_norm_eps": 1e-6,
        "rope_theta": 1_000_000.0,
        "num_code_groups": GROUPS,
    }


def fields(kind):
    """config.json of a kind; the base model's talker is as wide as its depth network, as in the 0.6B checkpoints."""
    talker = decoder(CODES + 1024, 32 if kind == "base" else 48, 2) | {
        "rope_scaling": {"rope_type": "default", "mrope_section": [4, 2, 2], "interleaved": True},
        "text_hidden_size": 40,
        "text_vocab_size": 300,
        "code_predictor_config": decoder(CODES, 32, 2),
        "codec_pad_id": 164,
        "codec_bos_id": 165,
        "codec_eos_token_id": 166,
        "codec_think_id": 170,
        "codec_nothink_id": 171,
        "codec_think_bos_id": 172,
        "codec_think_eos_id": 173,
        "codec_language_id": {"english": 66, "chinese": 67, "sichuan_dialect": 68, "german": 69},
        "spk_id": {"ryan": 80, "eric": 81} if kind == "custom_voice" else {},
        "spk_is_dialect": {"ryan": False, "eric": "sichuan_dialect"} if kind == "custom_voice" else {},
    }
    encoder = {"mel_dim": 128, "enc_dim": 32, "enc_channels": [16, 16, 16, 16, 48], "enc_res2net_scale": 4}
    return {
        "architectures": ["Qwen3TTSForConditionalGeneration"],
        "talker_config": talker,
        "speaker_encoder_config": encoder | {"enc_attention_channels": 8, "enc_se_channels": 8},
        "tokenizer_type": "qwen3_tts_tokenizer_12hz",
        "tts_model_size": "0b6",
        "tts_model_type": kind,
        "im_start_token_id": 290,
        "im_end_token_id": 291,
        "tts_pad_token_id": 292,
        "tts_bos_token_id": 293,
        "tts_eos_token_id": 294,
    }


def make(kind, config_class, model_class, folder):
    import torch

    config = config_class(**fields(kind))
    config._attn_implementation = "eager"
    config.talker_config._attn_implementation = "eager"
    config.talker_config.code_predictor_config._attn_implementation = "eager"
    model = model_class(config).eval().float()
    generator = torch.Generator().manual_seed(7)
    for name, parameter in model.named_parameters():
        noise = torch.randn(parameter.shape, generator=generator)
        spread = 1.0 if "embedding" in name else 0.25  # what was spoken must change what comes
        parameter.data = 1 + 0.2 * noise if parameter.dim() == 1 else spread * noise
    model.talker.codec_head.weight.data[166] = 0.0  # never the highest: the end does not come
    model.save_pretrained(folder, safe_serialization=True)
    return model


def ids(seed, count):
    import torch

    return torch.randint(0, 280, (1, count), generator=torch.Generator().manual_seed(seed))


def text_ids(seed, count):
    """<|im_start|>assistant\\n TEXT <|im_end|>\\n<|im_start|>assistant\\n as ids; here "assistant" is 5 and "\\n" 6."""
    import torch

    role = torch.tensor([[290, 5, 6]])
    return torch.cat((role, ids(seed, count), torch.tensor([[291, 6, 290, 5, 6]])), dim=1)


def cases(kind):
    """Keyword arguments of `generate` by name of the case."""
    import torch

    plain = {"input_ids": [text_ids(1, 9)], "languages": ["English"]}
    if kind == "custom_voice":
        yield "speaker", plain | {"speakers": ["Ryan"], "non_streaming_mode": True}
        yield "streaming", plain | {"speakers": ["Ryan"], "non_streaming_mode": False}
        instructed = {"instruct_ids": [ids(2, 7)], "languages": ["Auto"], "speakers": ["Eric"]}
        yield "dialect", plain | instructed | {"non_streaming_mode": True}
    elif kind == "voice_design":
        yield "design", plain | {"instruct_ids": [ids(3, 11)], "non_streaming_mode": True}
    else:
        vector = torch.randn(32, generator=torch.Generator().manual_seed(4))
        codes = torch.randint(0, CODES, (13, GROUPS), generator=torch.Generator().manual_seed(5))
        reference = torch.cat((torch.tensor([[290, 5, 6]]), ids(6, 5), torch.tensor([[291, 6]])), dim=1)
        for name, codes_or_none, words in (("vector", None, 9), ("context", codes, 9), ("long", codes, 21)):
            voice = {
                "ref_spk_embedding": [vector],
                "ref_code": None if codes_or_none is None else [codes_or_none],
                "x_vector_only_mode": [codes_or_none is None],
                "icl_mode": [codes_or_none is not None],
            }
            arguments = {"input_ids": [text_ids(1, words)], "languages": ["Auto"], "voice_clone_prompt": voice}
            arguments["ref_ids"] = [None if codes_or_none is None else reference]
            yield name, arguments | {"non_streaming_mode": False}
            yield f"{name}-whole", arguments | {"non_streaming_mode": True}


def run(model, arguments):
    """What goes into the talker and what comes out, greedily."""
    import torch

    seen = {}
    generate = model.talker.generate

    def watched(*positional, **named):
        seen.update(rows=named["inputs_embeds"], follow=named["trailing_text_hidden"])
        return generate(*positional, **named)

    model.talker.generate = watched
    with torch.no_grad():
        codes, hidden = model.generate(
            **arguments, max_new_tokens=FRAMES + 1, do_sample=False, subtalker_dosample=False, repetition_penalty=1.05
        )
        predictor = model.talker.code_predictor
        first = model.talker.get_input_embeddings()(codes[0][:1, :1])
        scored = predictor(inputs_embeds=torch.cat((hidden[0][:1, None], first), dim=1)).logits[0, -1]
    model.talker.generate = generate
    logits = model.talker.codec_head(hidden[0])
    out = {"rows": seen["rows"][0], "follow": seen["follow"][0], "frames": codes[0], "hidden": hidden[0]}
    return out | {"logits": logits, "second_code_logits": scored}


def main(packages, out):
    import numpy as np
    import torch

    torch.set_num_threads(1)
    config_class, model_class = import_reference(packages)
    for kind in ("custom_voice", "voice_design", "base"):
        model = make(kind, config_class, model_class, out / kind)
        for name, arguments in cases(kind):
            made = {key: value.detach().numpy() for key, value in run(model, arguments).items()}
            np.savez(out / f"{kind}-{name}.npz", **made)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
