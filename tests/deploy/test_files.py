"""What is in deploy/ and the Compose file: read by the real programs where there are some, and true to the code."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml
from packaging.requirements import Requirement
from packaging.version import Version

from jobs.settings import PREFIX, load_settings

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
PROFILES = ("cpu", "gpu", "flower", "monitoring")
FILLED_IN = {"TTS_BROKER_PASSWORD": "longpassword", "TTS_S3_KEY": "key", "TTS_S3_SECRET": "secret"}


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    """The Compose file as `docker compose config` understands it, with all profiles."""
    done = run_compose(FILLED_IN, *(word for name in PROFILES for word in ("--profile", name)))
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def run_compose(values: dict[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    found = shutil.which("docker")
    if found is None or subprocess.run([found, "compose", "version"], capture_output=True, check=False).returncode:
        reason = "no `docker compose` here; its `config` needs no daemon"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    clean = {name: value for name, value in os.environ.items() if not name.startswith("TTS_")}
    command = [found, "compose", "--env-file", "/dev/null", *words, "config", "--format", "json"]
    return subprocess.run(command, cwd=ROOT, env=clean | values, capture_output=True, text=True, check=False)


def test_nothing_starts_without_secrets() -> None:
    for name in FILLED_IN:
        done = run_compose({key: value for key, value in FILLED_IN.items() if key != name})
        assert done.returncode != 0
        assert "set it in .env" in done.stderr


def test_our_services_have_settings_that_there_are(compose: dict[str, Any]) -> None:
    ours = {name: one for name, one in compose["services"].items() if one["image"].startswith("tts-batch")}
    assert set(ours) == {"api", "cpu-worker", "synthesis", "synthesis-gpu"}
    for one in ours.values():
        settings = load_settings({key: value for key, value in one["environment"].items() if key.startswith(PREFIX)})
        assert settings.broker is not None
        assert settings.store_url.startswith("s3://")
        assert _seconds(one["stop_grace_period"]) >= settings.grace_s + 20
        assert one["healthcheck"]["test"]
        assert one["read_only"]
        assert one["init"]


def test_only_our_own_machine_reaches_the_ports(compose: dict[str, Any]) -> None:
    ports = [port for one in compose["services"].values() for port in one.get("ports", [])]
    assert ports
    assert {port["host_ip"] for port in ports} == {"127.0.0.1"}
    assert "ports" not in compose["services"]["broker"]


def test_images_of_others_have_a_version(compose: dict[str, Any]) -> None:
    others = [one["image"] for one in compose["services"].values() if not one["image"].startswith("tts-batch")]
    assert all(re.search(r":v?\d+\.\d+", image) for image in others), others


def test_an_error_is_no_sign_of_health_of_the_broker(compose: dict[str, Any]) -> None:
    """Without -e, valkey-cli ends with 0 when the answer is LOADING or NOAUTH."""
    broker = next(one for _, one in manifests() if one["kind"] == "StatefulSet")["spec"]["template"]["spec"]
    asked = broker["containers"][0]["readinessProbe"]["exec"]["command"]
    for command in (asked, compose["services"]["broker"]["healthcheck"]["test"][1:]):
        assert command[:2] == ["valkey-cli", "-e"]


def test_the_users_of_the_broker_can_be_read() -> None:
    """A server refuses a file of users with anything else in it, comments too."""
    lines = (DEPLOY / "valkey" / "users.acl.example").read_text().splitlines()
    assert [line.split()[1] for line in lines] == ["default", "worker", "reader", "health"]
    assert all(line.startswith("user ") for line in lines)


def test_a_broker_that_is_away_kills_no_worker() -> None:
    """The health check ends with 3 then, which says nothing of the worker; 1 says that it gives no sign of life."""
    pods = [one["spec"]["template"]["spec"] for _, one in manifests() if one["kind"] == "Deployment"]
    probes = [pod["containers"][0]["livenessProbe"] for pod in pods]
    commands = [probe["exec"]["command"] for probe in probes if "exec" in probe]
    assert len(commands) == 2
    for shell, option, script in commands:
        for code, lives in ((0, True), (1, False), (2, False), (3, True)):
            tried, found = re.subn(r"tts-batch worker check (cpu|gpu)", f"(exit {code})", script)
            assert found == 1
            assert (subprocess.run([shell, option, tried], check=False).returncode == 0) is lives


def test_services_of_systemd_can_write_where_they_must() -> None:
    """ProtectSystem=strict makes /tmp read-only too, and readers of S3 stores need temporary files."""
    for path in (DEPLOY / "systemd").glob("*.service"):
        lines = path.read_text().splitlines()
        assert {"PrivateTmp=true", "StartLimitIntervalSec=0"} <= set(lines), path.name
        settings = dict(
            line.removeprefix("Environment=").split("=") for line in lines if line.startswith("Environment=")
        )
        stop_s = next(int(line.partition("=")[2]) for line in lines if line.startswith("TimeoutStopSec="))
        grace_s = load_settings({name: value for name, value in settings.items() if name.startswith(PREFIX)}).grace_s
        assert stop_s >= grace_s + 20


def test_the_gpu_is_asked_for(compose: dict[str, Any]) -> None:
    (device,) = compose["services"]["synthesis-gpu"]["deploy"]["resources"]["reservations"]["devices"]
    assert (device["driver"], device["capabilities"]) == ("nvidia", ["gpu"])


def _seconds(text: str) -> float:
    minutes, seconds = re.fullmatch(r"(?:(\d+)m)?(?:(\d+)s)?", text).groups()
    return 60 * int(minutes or 0) + int(seconds or 0)


@pytest.mark.parametrize(
    ("lock", "extras"), [("cpu", ("api", "s3", "asr")), ("gpu", ("api", "s3", "asr", "gpu", "orpheus", "torch"))]
)
def test_a_lock_holds_what_the_project_needs(lock: str, extras: tuple[str, ...]) -> None:
    text = (DEPLOY / f"requirements-{lock}.lock").read_text()
    pinned = dict(re.findall(r"^([A-Za-z0-9_.-]+)==(\S+?)[ ;\\]", text, re.MULTILINE))
    assert text.count("--hash=sha256:") >= len(pinned)
    for needed in _needed(extras):
        name = needed.name.lower().replace("_", "-")
        assert name in pinned, f"{name} is not in the lock; run `make lock`"
        assert needed.specifier.contains(Version(pinned[name])), f"{name} {pinned[name]} is not {needed.specifier}"


def _needed(extras: tuple[str, ...]) -> Iterator[Requirement]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    lines = [*project["dependencies"], *(line for name in extras for line in project["optional-dependencies"][name])]
    for line in lines:
        needed = Requirement(line)
        if needed.name != project["name"] and (needed.marker is None or needed.marker.evaluate()):
            yield needed


def test_the_dockerfile_copies_what_the_program_is() -> None:
    text = (DEPLOY / "Dockerfile").read_text()
    ignored = (ROOT / ".dockerignore").read_text().splitlines()
    for source in re.findall(r"^COPY (?!--from)(.+) \S+$", text, re.MULTILINE):
        for name in source.split():
            assert list(ROOT.glob(name)), name
            assert f"!{name.removesuffix('/')}" in ignored, name
    assert re.findall(r"^USER (\S+)$", text, re.MULTILINE) == ["tts", "tts"]
    assert re.findall(r"^ENTRYPOINT (.+)$", text, re.MULTILINE) == ['["tts-batch"]']


def manifests() -> list[tuple[str, dict[str, Any]]]:
    files = sorted((DEPLOY / "k8s").glob("*.yaml"))
    return [(path.name, one) for path in files for one in yaml.safe_load_all(path.read_text())]


@pytest.mark.parametrize(
    ("name", "manifest"),
    [
        pytest.param(name, one, id=f"{name}-{one['kind']}-{one.get('metadata', {}).get('name')}")
        for name, one in manifests()
    ],
)
def test_manifests_fit_their_schema(name: str, manifest: dict[str, Any]) -> None:
    if manifest["kind"] in ("Kustomization", "ScaledObject"):
        assert manifest["apiVersion"].split("/")[0] in ("kustomize.config.k8s.io", "keda.sh")
    else:
        kubernetes_validate.validate(manifest, "1.31", strict=True)


def test_pods_have_time_to_drain_and_ask_for_settings_that_there_are() -> None:
    found = [one for _, one in manifests()]
    values = next(one["data"] for one in found if one["kind"] == "ConfigMap")
    grace_s = load_settings(values).grace_s
    pods = [one["spec"]["template"]["spec"] for one in found if one["kind"] == "Deployment"]
    assert len(pods) == 3
    for pod in pods:
        assert pod["terminationGracePeriodSeconds"] >= grace_s + 20
        names = [variable["name"] for variable in pod["containers"][0]["env"]]
        load_settings({name: "redis://x" for name in names if name.startswith(PREFIX)})
    listed = yaml.safe_load((DEPLOY / "k8s" / "kustomization.yaml").read_text())["resources"]
    assert {*listed, "kustomization.yaml"} == {path.name for path in (DEPLOY / "k8s").glob("*.yaml")}
