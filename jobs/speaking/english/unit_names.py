"""The units that stand after numbers in English text, with their names for one and for many. Pure."""

from __future__ import annotations

from functools import lru_cache

_PREFIXES = {"k": "kilo", "c": "centi", "m": "milli", "µ": "micro", "n": "nano", "M": "mega", "G": "giga", "T": "tera"}
_METRIC = """
m km cm mm µm nm = meter
g kg mg µg = gram
l ml cl µl = liter
W kW MW GW TW mW = watt
V kV mV µV = volt
A mA µA kA = amp
Hz kHz MHz GHz THz = hertz
Ω kΩ MΩ = ohm
B kB MB GB TB = byte
"""
_OTHER = """
L=liter; mL=milliliter; dl=deciliter; dL=deciliter; dm=decimeter; µL=microliter; khz=kilohertz/kilohertz;
Mhz=megahertz/megahertz; Ghz=gigahertz/gigahertz; KB=kilobyte; PB=petabyte; KiB=kibibyte; MiB=mebibyte;
GiB=gibibyte; Mb=megabit; kb=kilobit; Gb=gigabit; kbit=kilobit; Mbit=megabit; Gbit=gigabit; mb=megabyte;
gb=gigabyte; Pa=pascal; kPa=kilopascal; hPa=hectopascal; MPa=megapascal; J=joule; kJ=kilojoule;
MJ=megajoule; eV=electron volt; t=ton; ha=hectare; dB=decibel; K=kelvin; cal=calorie; kcal=kilocalorie;
N=newton; kWh=kilowatt hour; MWh=megawatt hour; GWh=gigawatt hour; TWh=terawatt hour; Wh=watt hour;
Ah=amp hour; mAh=milliamp hour; s=second; ms=millisecond; µs=microsecond; ns=nanosecond; min=minute; h=hour;
lb=pound; lbs=pound; oz=ounce; ft=foot/feet; in=inch/inches; mi=mile; yd=yard; yds=yard; gal=gallon;
pt=pint; qt=quart; tsp=teaspoon; c=cup; tbsp=tablespoon; cwt=hundredweight/hundredweight; psi=P S I/P S I;
mph=mile per hour/miles per hour; kph=kilometer per hour/kilometers per hour;
kmh=kilometer per hour/kilometers per hour; mpg=mile per gallon/miles per gallon;
fps=frame per second/frames per second; rpm=revolution per minute/revolutions per minute;
bpm=beat per minute/beats per minute; ppm=part per million/parts per million;
kbps=kilobit per second/kilobits per second; Mbps=megabit per second/megabits per second;
Gbps=gigabit per second/gigabits per second; dpi=dot per inch/dots per inch; hr=hour; hrs=hour; mins=minute;
sec=second; secs=second; yr=year; yrs=year; mo=month; wk=week; wks=week; px=pixel; pts=point;
°C=degree Celsius/degrees Celsius; °F=degree Fahrenheit/degrees Fahrenheit; °=degree; %=percent/percent;
‰=per mille/per mille; sq ft=square foot/square feet; sq in=square inch/square inches; sq mi=square mile;
sq m=square meter; sq km=square kilometer; sq yd=square yard; cu ft=cubic foot/cubic feet;
cu in=cubic inch/cubic inches; fl oz=fluid ounce; cc=cubic centimeter; nmi=nautical mile; d=day;
day=day/day; person=person/person; year=year/year;
"""
"""`symbol=one/many;`; without `many` it has an s."""


def _units() -> dict[str, tuple[str, str]]:
    units: dict[str, tuple[str, str]] = {}
    for line in _METRIC.strip().splitlines():
        symbols, _, name = line.partition(" = ")
        base = symbols.split()[0]
        for symbol in symbols.split():
            one = name if symbol == base else f"{_PREFIXES[symbol[0]]}{name}"
            units[symbol] = (one, one if name == "hertz" else f"{one}s")
    for entry in _OTHER.replace("\n", "").strip(";").split(";"):
        symbol, _, names = entry.strip().partition("=")
        one, _, many = names.partition("/")
        units[symbol] = (one, many or f"{one}s")
    return units


UNITS = _units()
"""Names for one and for many by symbol, in American spelling."""
DOTTED = frozenset(
    (
        *("lb", "lbs", "oz", "ft", "in", "mi", "yd", "yds", "gal", "pt", "qt", "tsp", "tbsp", "cwt", "min", "mins"),
        *("hr", "hrs", "sec", "secs", "yr", "yrs", "mo", "wk", "wks"),
    )
)
"""What may have a stop of its own."""
POWERS = {"²": "square", "2": "square", "³": "cubic", "3": "cubic"}
POWERED = ("km", "cm", "mm", "ft", "in", "mi", "yd", "dm", "m")


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
