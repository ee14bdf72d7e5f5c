"""What device time is charged at. Pure; a device is a GPU or, on a CPU, one synthesis process."""

from __future__ import annotations

from dataclasses import dataclass

SECONDS_PER_HOUR = 3600
LEAST_SHOWN = 0.0001


@dataclass(frozen=True, slots=True)
class Tariff:
    """What an hour of a device costs (0: nothing is said of prices), and in what."""

    device_hour_price: float = 0.0
    currency: str = ""

    def price(self, device_s: float | None) -> float | None:
        """The price of device time; None without a tariff, or when the time is not known."""
        if device_s is None or not self.device_hour_price:
            return None
        return round(device_s / SECONDS_PER_HOUR * self.device_hour_price, 6)

    def text(self, price: float) -> str:
        """A price for people: two decimals, or two digits that say something when it is less than 0.1."""
        number = f"{price:.2f}" if price >= 0.1 or not price else f"{price:.2g}"
        if 0 < price < LEAST_SHOWN:
            number = f"under {LEAST_SHOWN}"
        return f"{number} {self.currency}".rstrip()
