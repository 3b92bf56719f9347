"""Whether a time zone exists, by the database of this machine."""

from __future__ import annotations


def timezone_exists(name: str) -> bool:
    """Return whether ``name`` is a key of the time zone database."""
    # Imported here: most files name no time zone.
    from zoneinfo import ZoneInfo  # noqa: PLC0415

    try:
        ZoneInfo(name)
    except (OSError, ValueError):
        return False
    except KeyError:  # ZoneInfoNotFoundError is one
        return False
    return True
