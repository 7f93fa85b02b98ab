"""Where items come from: files, the Hugging Face hub, installed packages. Pinned, hashed, read strictly."""

from measurand.data.checks import Flag, check_rows
from measurand.data.formats import format_of, parse
from measurand.data.opening import inline, open_data
from measurand.data.table import Table

__all__ = ["Flag", "Table", "check_rows", "format_of", "inline", "open_data", "parse"]
