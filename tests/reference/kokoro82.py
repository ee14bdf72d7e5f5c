"""Runs the package kokoro on random weights, in a process of its own (it wants packages that only read text).

    python tests/reference/kokoro82.py PACKAGES OUT

PACKAGES holds kokoro 0.9.4 (and loguru). Reads OUT/state.pt (tensors by published name, folded) and OUT/cases.pt (a
list of ids, style, speed, noise [S] or None); writes OUT/spoken.pt: samples, frames of each id, pitch and energy.
`noise` takes the place of the source's nine normal numbers a sample, so that their weighted sum is what ours adds.
"""

from __future__ import annotations

import importlib.machinery
import sys
import types
import warnings
from pathlib import Path

STUBS = ("misaki", "misaki.en", "misaki.espeak")
CONFIG = {
    "vocab": {},
    "n_token": 178,
    "hidden_dim": 512,
    "style_dim": 128,
    "n_layer": 3,
    "max_dur": 50,
    "dropout": 0.2,
    "text_encoder_kernel_size": 5,
    "n_mels": 80,
    "plbert": {
        "hidden_size": 768,
        "num_attention_heads": 12,
        "intermediate_size": 2048,
        "max_position_embeddings": 512,
        "num_hidden_layers": 12,
        "dropout": 0.1,
    },
    "istftnet": {
        "upsample_kernel_sizes": [20, 12],
        "upsample_rates": [10, 6],
        "gen_istft_hop_size": 5,
        "gen_istft_n_fft": 20,
        "resblock_dilation_sizes": [[1, 3, 5], [1, 3, 5], [1, 3, 5]],
        "resblock_kernel_sizes": [3, 7, 11],
        "upsample_initial_channel": 512,
    },
}


def import_reference(packages):
    sys.path.insert(0, packages)
    warnings.simplefilter("ignore")
    for name in STUBS:
        stub = types.ModuleType(name)
        stub.__spec__ = importlib.machinery.ModuleSpec(name, None)
        stub.__path__ = []
        sys.modules[name] = stub
    attr = types.ModuleType("attr")  # imported, never used
    attr.attr = None
    sys.modules.setdefault("attr", attr)
    package = types.ModuleType("kokoro")  # its own __init__ imports the readers of text
    package.__path__ = [str(Path(packages) / "kokoro")]
    sys.modules["kokoro"] = package
    from kokoro import istftnet
    from kokoro.model import KModel

    return KModel, istftnet


def make(model_class, folder):
    import torch

    torch.save({}, folder / "empty.pth")
    model = model_class(repo_id="none", config=CONFIG, model=str(folder / "empty.pth")).eval()
    state = torch.load(folder / "state.pt")
    for part in ("bert", "bert_encoder", "predictor", "text_encoder", "decoder"):
        module = getattr(model, part)
        for name, parameter in module.named_parameters():
            if name.endswith("weight_v"):  # a direction of the weight's own size: its norm folds to the weight
                weight = state[f"{part}.{name.removesuffix('_v')}"]
                parameter.data = weight.clone()
                size = dict(module.named_parameters())[name.removesuffix("_v") + "_g"]
                size.data = torch.linalg.vector_norm(weight, dim=(1, 2), keepdim=True)
            elif f"{part}.{name}" in state:
                parameter.data = state[f"{part}.{name}"].clone()
    return model


def main(packages, out):
    import torch

    torch.set_num_threads(1)
    model_class, istftnet = import_reference(packages)
    model = make(model_class, out)
    weights = model.decoder.generator.m_source.l_linear.weight[0].detach()
    shared = []

    def randn_like(like, **_options):
        if like.shape[-1] != len(weights) or shared[0] is None:
            return torch.zeros_like(like)
        return (shared[0][None, :, None] * (weights / weights.norm())).expand(like.shape)

    istftnet.torch.randn_like = randn_like
    curves, train = [], model.predictor.F0Ntrain

    def watched(*arguments):
        curves.append(train(*arguments))
        return curves[-1]

    model.predictor.F0Ntrain = watched
    spoken = []
    for case in torch.load(out / "cases.pt"):
        shared[:] = [case["noise"]]
        ids = torch.tensor([[0, *case["ids"], 0]])
        samples, frames = model.forward_with_tokens(ids, case["style"][None], case["speed"])
        pitch, energy = curves[-1]
        spoken.append({"samples": samples, "frames": frames, "pitch": pitch[0], "energy": energy[0]})
    torch.save(spoken, out / "spoken.pt")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
