"""The C side: what is public is declared in the package."""

from typing import Any

def __getattr__(name: str) -> Any: ...
