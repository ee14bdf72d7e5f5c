"""The units that stand after numbers in English text, with their names for one and for many. Pure."""

from __future__ import annotations

from functools import lru_cache


def _metric(symbols: str, name: str) -> dict[str, tuple[str, str]]:
    prefixes = {"k": "kilo", "c": "centi", "m": "milli", "µ": "micro", "n": "nano", "M": "mega", "G": "giga", "T": "tera"}
    units: dict[str, tuple[str, str]] = {}
    for symbol in symbols.split():
        prefix = prefixes[symbol[0]] if len(symbol) > 1 and symbol != "Hz" else ""
        units[symbol] = (f"{prefix}{name}", f"{prefix}{name}" if name == "hertz" else f"{prefix}{name}s")
    return units


_METRIC = {
    **_metric("m km cm mm µm nm", "meter"),
    **_metric("g kg mg µg", "gram"),
    **_metric("l ml cl µl", "liter"),
    **{"L": ("liter", "liters"), "mL": ("milliliter", "milliliters"), "dl": ("deciliter", "deciliters")},
    **{"dL": ("deciliter", "deciliters"), "dm": ("decimeter", "decimeters"), "µL": ("microliter", "microliters")},
    **_metric("W kW MW GW TW mW", "watt"),
    **_metric("V kV mV µV", "volt"),
    **_metric("A mA µA kA", "amp"),
    **_metric("Hz kHz MHz GHz THz", "hertz"),
    **{"khz": ("kilohertz", "kilohertz"), "Mhz": ("megahertz", "megahertz"), "Ghz": ("gigahertz", "gigahertz")},
    **_metric("Ω kΩ MΩ", "ohm"),
    **_metric("B kB MB GB TB", "byte"),
    **{"KB": ("kilobyte", "kilobytes"), "PB": ("petabyte", "petabytes"), "KiB": ("kibibyte", "kibibytes")},
    **{"MiB": ("mebibyte", "mebibytes"), "GiB": ("gibibyte", "gibibytes"), "Mb": ("megabit", "megabits")},
    **{"kb": ("kilobit", "kilobits"), "Gb": ("gigabit", "gigabits"), "kbit": ("kilobit", "kilobits")},
    **{"Mbit": ("megabit", "megabits"), "Gbit": ("gigabit", "gigabits"), "mb": ("megabyte", "megabytes")},
    **{"gb": ("gigabyte", "gigabytes"), "Pa": ("pascal", "pascals"), "kPa": ("kilopascal", "kilopascals")},
    **{"hPa": ("hectopascal", "hectopascals"), "MPa": ("megapascal", "megapascals"), "J": ("joule", "joules")},
    **{"kJ": ("kilojoule", "kilojoules"), "MJ": ("megajoule", "megajoules"), "eV": ("electron volt", "electron volts")},
    **{"t": ("ton", "tons"), "ha": ("hectare", "hectares"), "dB": ("decibel", "decibels"), "K": ("kelvin", "kelvins")},
    **{"cal": ("calorie", "calories"), "kcal": ("kilocalorie", "kilocalories"), "N": ("newton", "newtons")},
    **{"kWh": ("kilowatt hour", "kilowatt hours"), "MWh": ("megawatt hour", "megawatt hours")},
    **{"GWh": ("gigawatt hour", "gigawatt hours"), "TWh": ("terawatt hour", "terawatt hours")},
    **{"Wh": ("watt hour", "watt hours"), "Ah": ("amp hour", "amp hours"), "mAh": ("milliamp hour", "milliamp hours")},
    **{"s": ("second", "seconds"), "ms": ("millisecond", "milliseconds"), "µs": ("microsecond", "microseconds")},
    **{"ns": ("nanosecond", "nanoseconds"), "min": ("minute", "minutes"), "h": ("hour", "hours")},
}
_OTHER = {
    **{"lb": ("pound", "pounds"), "lbs": ("pound", "pounds"), "oz": ("ounce", "ounces"), "ft": ("foot", "feet")},
    **{"in": ("inch", "inches"), "mi": ("mile", "miles"), "yd": ("yard", "yards"), "yds": ("yard", "yards")},
    **{"gal": ("gallon", "gallons"), "pt": ("pint", "pints"), "qt": ("quart", "quarts"), "tsp": ("teaspoon", "teaspoons")},
    **{"tbsp": ("tablespoon", "tablespoons"), "cwt": ("hundredweight", "hundredweight"), "psi": ("P S I", "P S I")},
    **{"mph": ("mile per hour", "miles per hour"), "kph": ("kilometer per hour", "kilometers per hour")},
    **{"kmh": ("kilometer per hour", "kilometers per hour"), "mpg": ("mile per gallon", "miles per gallon")},
    **{"fps": ("frame per second", "frames per second"), "rpm": ("revolution per minute", "revolutions per minute")},
    **{"bpm": ("beat per minute", "beats per minute"), "ppm": ("part per million", "parts per million")},
    **{"kbps": ("kilobit per second", "kilobits per second"), "Mbps": ("megabit per second", "megabits per second")},
    **{"Gbps": ("gigabit per second", "gigabits per second"), "dpi": ("dot per inch", "dots per inch")},
    **{"hr": ("hour", "hours"), "hrs": ("hour", "hours"), "mins": ("minute", "minutes"), "sec": ("second", "seconds")},
    **{"secs": ("second", "seconds"), "yr": ("year", "years"), "yrs": ("year", "years"), "mo": ("month", "months")},
    **{"wk": ("week", "weeks"), "wks": ("week", "weeks"), "px": ("pixel", "pixels"), "pts": ("point", "points")},
    **{"°C": ("degree Celsius", "degrees Celsius"), "°F": ("degree Fahrenheit", "degrees Fahrenheit")},
    **{"°": ("degree", "degrees"), "%": ("percent", "percent"), "‰": ("per mille", "per mille")},
    **{"sq ft": ("square foot", "square feet"), "sq in": ("square inch", "square inches")},
    **{"sq mi": ("square mile", "square miles"), "sq m": ("square meter", "square meters")},
    **{"sq km": ("square kilometer", "square kilometers"), "sq yd": ("square yard", "square yards")},
    **{"cu ft": ("cubic foot", "cubic feet"), "cu in": ("cubic inch", "cubic inches"), "fl oz": ("fluid ounce", "fluid ounces")},
    **{"cc": ("cubic centimeter", "cubic centimeters"), "nmi": ("nautical mile", "nautical miles")},
    **{"d": ("day", "days"), "day": ("day", "day"), "person": ("person", "person"), "year": ("year", "year")},
}
UNITS = {**_METRIC, **_OTHER}
"""Names for one and for many by symbol, in American spelling."""
DOTTED = frozenset("lb lbs oz ft in mi yd yds gal pt qt tsp tbsp cwt min mins hr hrs sec secs yr yrs mo wk wks".split())
"""What may have a stop of its own."""
POWERS = {"²": "square", "2": "square", "³": "cubic", "3": "cubic"}
POWERED = frozenset("m km cm mm ft in mi yd dm".split())


@lru_cache(maxsize=1024)
def unit_name(symbol: str, *, single: bool, british: bool) -> str | None:
    """The name of a unit, of a power (`m²`) or of a quotient (`km/h`); None for what is no unit."""
    above, slash, below = symbol.partition("/")
    name = _name(above, single=single)
    if name is None:
        return None
    if slash:
        second = _per_name(below)
        if second is None:
            return None
        name = f"{name} per {second}"
    return _british(name) if british else name


def _name(symbol: str, *, single: bool) -> str | None:
    symbol = symbol.replace(".", "").replace("μ", "µ").replace("Ω", "Ω").replace("℃", "°C").replace("℉", "°F")
    symbol = "µ" + symbol[1:] if symbol.startswith("u") and "µ" + symbol[1:] in UNITS else symbol
    symbol = symbol.replace("° ", "°")
    if symbol in UNITS:
        return UNITS[symbol][0 if single else 1]
    power = POWERS.get(symbol[-1:])
    if power is not None and symbol[:-1] in POWERED:
        return f"{power} {UNITS[symbol[:-1]][0 if single else 1]}"
    return None


def _per_name(symbol: str) -> str | None:
    if symbol in ("s²", "s2"):
        return "second squared"
    return _name(symbol, single=True)


def _british(name: str) -> str:
    if "meter" in name:
        name = name.replace("meters", "metres").replace("meter", "metre")
    name = name.replace("liters", "litres").replace("liter", "litre")
    return name.replace("tons", "tonnes") if name.startswith("tons") else "tonne" if name == "ton" else name
