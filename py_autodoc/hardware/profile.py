"""Hardware profiles: the known properties of devices, one JSON file each.

Packaged profiles are in ``profiles/<vendor>/<id>.json``. A user's own file only needs a name, the memory
bandwidth, and the peaks to estimate with.
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path

import msgspec

from py_autodoc.bounded import check_json
from py_autodoc.errors import OptionError, PathError
from py_autodoc.limits import DEVICE_FILE, SETTINGS
from py_autodoc.option_files import read_bytes, shown_name

PRECISIONS = ("fp32", "tf32", "fp16", "bf16", "fp8", "int8")
"""Precisions with latency estimates."""
CUSTOM = "custom"
"""Category and confidence of users' own profiles."""
_NEAREST = 5
_TYPO = 0.8
"""Similarity from which an unknown field counts as a typo of a known one."""
_OTHER_FIELDS = re.compile(r"peak_[a-z0-9_]+_(fl)?ops|tdp_watts_min|memory_is_unified|[a-z_]+_source")
"""Fields of packaged files that are similar to known ones but distinct."""
_RANGES = (
    ("bytes_per_s", 1e8, 1e16),
    ("flops", 1e8, 1e21),
    ("int8_ops", 1e8, 1e21),
    ("clock_hz", 1e6, 1e11),
    ("start_seconds", 1e-9, 1),
    ("l2_cache_bytes", 1 << 16, 1e15),
    ("bytes", 1 << 20, 1e18),
    ("fraction", 1e-3, 1),
    ("count", 1, 1e6),
    ("watts", 0.1, 1e6),
)
"""Suffix of a field's name → plausible range, which excludes values in GB/s, TFLOPS or GHz."""


class Interconnect(msgspec.Struct, frozen=True, kw_only=True):
    """Interconnect of several devices: its own link, and PCIe. Bytes per second in one direction."""

    link: str | None = None
    link_bytes_per_s_per_direction: float | None = None
    link_bytes_per_s_bidirectional: float | None = None
    """Both directions together, as in data sheets; not used."""
    pcie: str | None = None
    pcie_bytes_per_s_per_direction: float | None = None


class Profile(msgspec.Struct, frozen=True, kw_only=True):
    """One device. Peaks are dense with accumulation in fp32; unknown values are None. Names include units."""

    name: str
    id: str = ""
    vendor: str = ""
    type: str = ""
    category: str = CUSTOM
    vram_bytes: int | None = None
    usable_memory_fraction: float | None = None
    memory_bandwidth_bytes_per_s: float | None = None
    peak_fp32_flops: float | None = None
    peak_tf32_flops: float | None = None
    peak_fp16_flops: float | None = None
    peak_bf16_flops: float | None = None
    peak_fp8_flops: float | None = None
    peak_int8_ops: float | None = None
    sm_count: int | None = None
    l2_cache_bytes: int | None = None
    boost_clock_hz: float | None = None
    sustained_compute_fraction: float | None = None
    """Measured; None if not published."""
    power_limited: bool = False
    """True if the board cannot sustain its peak within its power limit."""
    measured_product_flops: float | None = None
    """This and the next four: values of a CPU measured by ``hardware calibrate``, all or none."""
    measured_convolution_flops: float | None = None
    measured_depthwise_flops: float | None = None
    measured_bandwidth_bytes_per_s: float | None = None
    measured_start_seconds: float | None = None
    """Per operator."""
    product_fraction: float | None = None
    """Share of the peak that matrix products of a CPU reach, from published times; None: the usual share.
    ``product_fraction_source`` names them; the same holds for the next three."""
    convolution_fraction: float | None = None
    depthwise_fraction: float | None = None
    bandwidth_fraction: float | None = None
    max_opset: dict[str, int] = {}
    """Runtime → the newest opset that the last version of it for this device reads, if that is limited."""
    tdp_watts: float | None = None
    """Power of the board or module; not used by the estimate."""
    interconnect: Interconnect | None = None
    """Used if several devices run one model."""
    aliases: tuple[str, ...] = ()
    confidence: str = CUSTOM

    def peak(self, precision: str) -> int | None:
        """Return FLOP/s (OP/s for ``int8``), None if unknown."""
        field = "peak_int8_ops" if precision == "int8" else f"peak_{precision}_flops"
        value: float | None = getattr(self, field)
        return None if value is None else int(value)


def profiles_folder() -> Path:
    """Return the folder of the packaged profiles: in the wheel, or next to the package in a checkout."""
    package = Path(__file__).resolve().parent.parent
    inside = package / "profiles"
    return inside if inside.is_dir() else package.parent / "profiles"


@lru_cache(maxsize=1)
def profiles() -> tuple[Profile, ...]:
    """Return the packaged profiles by vendor and name, read once."""
    loaded = []
    decoder = msgspec.json.Decoder(Profile)
    for vendor in sorted(os.scandir(profiles_folder()), key=lambda entry: entry.name):
        if vendor.is_dir():
            for file in os.scandir(vendor.path):
                if file.name.endswith(".json"):
                    with open(file.path, "rb") as stream:
                        loaded.append(decoder.decode(stream.read()))
    return tuple(sorted(loaded, key=lambda profile: (profile.vendor, profile.name)))


def user_profile_folder() -> Path:
    """Return the folder of the user's own profiles, within the system's folder for settings."""
    configured = os.environ.get("APPDATA" if os.name == "nt" else "XDG_CONFIG_HOME", "")
    base = Path(configured) if os.path.isabs(configured) else Path.home() / ".config"
    return base / "onnx-autodoc" / "profiles"


def user_profile(key: str) -> Profile | None:
    """Return the user's profile with this name. Raises: OptionError for an invalid file."""
    if not re.fullmatch(r"[a-z0-9][a-z0-9._-]{0,79}", key):
        return None
    try:
        path = user_profile_folder() / f"{key}.json"
        return load_profile(str(path)) if path.is_file() else None
    except (OSError, RuntimeError):  # no home folder, or it is not readable
        return None


def estimable(profile: Profile) -> bool:
    """Return True if the memory bandwidth and at least one peak are known."""
    return profile.memory_bandwidth_bytes_per_s is not None and any(map(profile.peak, PRECISIONS))


def find_profile(requested: str) -> Profile:
    """Return the packaged profile for an id or alias, the user's own with that name, or the one in a file.

    Ids are also found without hyphens or with other separators (``RTX4090``, ``rtx_4090``). Names that end in
    ``.json`` or contain a path separator are files. Raises: OptionError with the nearest ids, or the problem
    with the file.
    """
    if requested.endswith(".json") or os.sep in requested or "/" in requested:
        return load_profile(requested)
    key = requested.strip().lower()
    packaged = profiles()
    exact = [profile for profile in packaged if profile.id == key]
    named = exact or [profile for profile in packaged if key in (profile.name.lower(), *profile.aliases)]
    own = None if named else user_profile(key)
    if own is not None:
        return own
    named = named or [profile for profile in packaged if _squeezed(key) in map(_squeezed, _names(profile))]
    named = named or [profile for profile in packaged if profile.id.startswith(f"{_hyphenated(key)}-")]
    if len(named) == 1:
        return named[0]
    if named:
        raise OptionError(
            "ambiguous-device",
            f"{requested[:80]!r} is the name of several devices.",
            f"Choose one of {', '.join(profile.id for profile in named)}.",
        )
    raise OptionError(
        "unknown-device", f"Unknown hardware profile {requested[:80]!r}.", _nearest(key, packaged)
    )


_LISTED = "Run `onnx-autodoc analyze --list-hardware` for all ids, or pass a JSON profile file."


def _names(profile: Profile) -> tuple[str, ...]:
    """Return the names by which a device can be requested."""
    return (profile.id, profile.name.lower(), *profile.aliases)


def _squeezed(name: str) -> str:
    """Return a name without separators and the vendor's name in front."""
    return re.sub(
        r"^(nvidia|amd|intel|apple|google|qualcomm)(?=.)", "", re.sub(r"[\s_./-]+", "", name.lower())
    )


def _hyphenated(key: str) -> str:
    return re.sub(r"[\s_]+", "-", key)


def _nearest(key: str, packaged: Sequence[Profile]) -> str:
    inside = [
        profile.id for profile in packaged if len(key) > 1 and any(key in name for name in _names(profile))
    ]
    short = _squeezed(key)
    inside = inside or [
        profile.id
        for profile in packaged
        if len(short) > 2 and any(short in _squeezed(name) for name in _names(profile))
    ]
    if inside:
        return f"Choose one of {', '.join(inside)}."
    initials = [
        profile.id for profile in packaged if any(_abbreviates(short, name) for name in _names(profile))
    ]
    if initials:
        return f"Did you mean {' or '.join(initials[:_NEAREST])}? {_LISTED}"
    names = {name: profile.id for profile in packaged for name in _names(profile)}
    close = [names[name] for name in difflib.get_close_matches(key, names, _NEAREST * 2, 0.5)]
    ids = list(dict.fromkeys(close))[:_NEAREST]
    suggestion = f"Did you mean {' or '.join(ids)}? " if ids else ""
    return f"{suggestion}{_LISTED}"


def _abbreviates(key: str, name: str) -> bool:
    """Return True if ``rpi5`` shortens ``raspberry-pi-5``: starts of all its words, the first included."""
    words = re.findall(r"[a-z]+|[0-9]+", name.lower())

    def rest(key: str, at: int) -> bool:
        if at == len(words):
            return not key
        word = words[at]
        lengths = [len(word)] if word.isdigit() else range(1, len(word) + 1)
        return any(
            key[:length] == word[:length] and rest(key[length:], at + 1)
            for length in lengths
            if length <= len(key)
        )

    return len(key) > 2 and len(words) > 1 and rest(key, 0)


def load_profile(path: str) -> Profile:
    """Load a user's own profile. Raises: OptionError if it is invalid."""
    name = shown_name(path)
    try:
        data = read_bytes(path, DEVICE_FILE)
    except PathError as fault:  # what a name that is no id stands for is a matter of the option
        raise OptionError("bad-profile", fault.message, fault.hint) from None
    try:
        check_json(data, SETTINGS)
        profile = msgspec.json.decode(data, type=Profile)
        fields = msgspec.json.decode(data, type=dict[str, msgspec.Raw])
    except (msgspec.DecodeError, RecursionError, ValueError) as fault:
        raise _fault(name, str(fault)[:200] or "it is not JSON") from None
    _check_names(fields, name)
    stem = "".join(c if c.isalnum() or c in "-_." else "-" for c in os.path.splitext(name)[0])[:80]
    user_profile = msgspec.structs.replace(
        profile, id=f"{CUSTOM}:{stem}", category=_category(profile), confidence=CUSTOM, aliases=()
    )
    _check(user_profile, name)
    return user_profile


def _category(profile: Profile) -> str:
    return "cpu" if "cpu" in (profile.type, profile.category) else CUSTOM


def _check_names(fields: Iterable[str], name: str) -> None:
    """Reject mistyped fields, which would be ignored together with their values."""
    field_names = Profile.__struct_fields__
    for field in fields:
        if field not in field_names and not _OTHER_FIELDS.fullmatch(field):
            similar = difflib.get_close_matches(field[:80].lower(), field_names, 1, _TYPO)
            if similar:
                raise _fault(name, f"it has no field {field[:80]!r}, but there is {similar[0]}")


def _check(profile: Profile, name: str) -> None:
    for field in profile.__struct_fields__:
        value = getattr(profile, field)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            continue
        low, high = next((low, high) for end, low, high in _RANGES if field.endswith(end))
        if not low <= value <= high:  # also rejects NaN
            raise _fault(name, f"{field} is {str(value)[:24]}; between {low:g} and {high:g} was expected")
    links = profile.interconnect
    rates = (
        () if links is None else (links.link_bytes_per_s_per_direction, links.pcie_bytes_per_s_per_direction)
    )
    for rate in rates:
        if rate is not None and not 1e8 <= rate <= 1e16:
            raise _fault(name, f"a rate of interconnect is {str(rate)[:24]}; bytes a second were expected")
    if not profile.name.strip() or len(profile.name) > 200:
        raise _fault(name, "name must have 1 to 200 characters")
    if profile.memory_bandwidth_bytes_per_s is None:
        raise _fault(name, "memory_bandwidth_bytes_per_s is missing")
    if not estimable(profile):
        raise _fault(name, "it has none of peak_fp32_flops, peak_fp16_flops … peak_int8_ops")


def _fault(name: str, problem: str) -> OptionError:
    return OptionError(
        "bad-profile",
        f"{name} is not a hardware profile: {problem}.",
        "A profile is a JSON object with name, vram_bytes, memory_bandwidth_bytes_per_s, peak_fp32_flops, "
        "peak_fp16_flops and other peaks.",
    )
