"""What a job costs: device time, energy and price, estimated before it is spoken and summed up after. Pure.

A device is a GPU or, on a CPU, one synthesis process. Times of several devices are added.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from jobs.progress import audio_s_of
from jobs.spec import Frozen, SegmentResult
from jobs.state import SegmentState
from jobs.tariff import SECONDS_PER_HOUR, Tariff

JOULES_PER_WH = 3600


class DeviceCost(Frozen):
    """What was spoken on devices of one name: `audio_s` of delivered takes, and the time for all attempts."""

    device: str
    segments: int
    audio_s: float
    device_s: float
    audio_s_per_device_s: float | None
    energy_j: float | None
    energy_wh_per_audio_hour: float | None


class RunReport(Frozen):
    """What differs from run to run: work done and saved, and what it cost.

    `compute_s` sums how long segments sat in slots, `device_s` their shares of the device's time, `audio_s` the audio
    that was made for it (reused takes are not). Energy is None unless every device told it, `price` without a tariff.
    """

    compute_s: float
    reused: int
    audio_s: float = 0.0
    device_s: float = 0.0
    audio_s_per_device_s: float | None = None
    energy_j: float | None = None
    energy_wh_per_audio_hour: float | None = None
    price: float | None = None
    currency: str = ""
    devices: tuple[DeviceCost, ...] = ()

    def priced(self, tariff: Tariff) -> RunReport:
        """The same with its price."""
        price = tariff.price(self.device_s)
        return self.model_copy(update={"price": price, "currency": "" if price is None else tariff.currency})


def run_report(results: Iterable[SegmentResult]) -> RunReport:
    """The sums over a job's results. A reused take costs nothing and counts for no speed."""
    told = list(results)
    names = sorted({result.device for result in told if result.device_s > 0})  # "": attempts before one that failed
    devices = tuple(_device_cost(name, [result for result in told if result.device == name]) for name in names)
    audio_s = sum(device.audio_s for device in devices)
    device_s = sum(device.device_s for device in devices)
    energy_j = _sum_known([device.energy_j for device in devices])
    return RunReport(
        compute_s=round(sum(result.compute_s for result in told), 6),
        reused=sum(result.reused for result in told),
        audio_s=round(audio_s, 6),
        device_s=round(device_s, 6),
        audio_s_per_device_s=_ratio(audio_s, device_s),
        energy_j=None if energy_j is None else round(energy_j, 3),
        energy_wh_per_audio_hour=wh_per_audio_hour(energy_j, audio_s),
        devices=devices,
    )


def wh_per_audio_hour(energy_j: float | None, audio_s: float) -> float | None:
    """Watt-hours for an hour of audio; None where the energy is not known or there is no audio."""
    if energy_j is None or audio_s <= 0:
        return None
    return round(energy_j / JOULES_PER_WH / (audio_s / SECONDS_PER_HOUR), 4)


def cost_lines(run: RunReport, tariff: Tariff) -> list[str]:
    """A finished job's cost for people: one line, none if nothing was spoken."""
    if not run.device_s:
        return []
    parts = [
        f"{seconds(run.device_s)} of {' and '.join(device.device or 'devices not told' for device in run.devices)}"
    ]
    if run.audio_s_per_device_s is not None:
        parts.append(f"{run.audio_s_per_device_s:.1f} s of audio each second")
    if run.energy_wh_per_audio_hour is not None and run.energy_j is not None:
        used_wh = run.energy_j / JOULES_PER_WH
        parts.append(f"{used_wh:.3g} Wh ({run.energy_wh_per_audio_hour:.3g} Wh for an hour of audio)")
    price = tariff.price(run.device_s)
    return [", ".join([*parts, *([] if price is None else [tariff.text(price)])])]


def seconds(device_s: float) -> str:
    """`0.42 device-seconds`, `12.3 device-seconds`, `3,600 device-seconds`."""
    digits = 2 if device_s < 1 else 1 if device_s < 100 else 0
    return f"{device_s:,.{digits}f} device-seconds"


def audio_by_voice(
    results: Mapping[int, SegmentResult], spoken: Mapping[int, tuple[str, int]], *, speed: float
) -> dict[str, tuple[int, float]]:
    """Characters and seconds (as at speed 1) of each voice; `spoken`: segment → voice, characters.

    Of segments that were spoken for this job: reused takes are another job's.
    """
    sums: dict[str, tuple[int, float]] = {}
    for segment, (voice, chars) in spoken.items():
        result = results.get(segment)
        if result is None or not (audio_s := _audio_s(result)):
            continue
        known_chars, known_s = sums.get(voice, (0, 0.0))
        sums[voice] = (known_chars + chars, known_s + audio_s * speed)
    return sums


def _device_cost(name: str, results: list[SegmentResult]) -> DeviceCost:
    spent = [result for result in results if result.device_s > 0]
    audio_s = sum(map(_audio_s, spent))
    device_s = sum(result.device_s for result in spent)
    energy_j = _sum_known([result.energy_j for result in spent])
    return DeviceCost(
        device=name,
        segments=len(spent),
        audio_s=round(audio_s, 6),
        device_s=round(device_s, 6),
        audio_s_per_device_s=_ratio(audio_s, device_s),
        energy_j=None if energy_j is None else round(energy_j, 3),
        energy_wh_per_audio_hour=wh_per_audio_hour(energy_j, audio_s),
    )


def _sum_known(energies_j: Sequence[float | None]) -> float | None:
    """Their sum; None unless there are some and every one is known."""
    known = [energy_j for energy_j in energies_j if energy_j is not None]
    return sum(known) if known and len(known) == len(energies_j) else None


def _audio_s(result: SegmentResult) -> float:
    return audio_s_of(result) if result.state is SegmentState.DONE and not result.reused else 0.0


def _ratio(audio_s: float, device_s: float) -> float | None:
    return round(audio_s / device_s, 4) if device_s > 0 and audio_s > 0 else None
