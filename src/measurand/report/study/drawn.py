"""Plots drawn: as SVG inside a page, and as SVG and PNG files. Needs the extra `plots`."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from xml.etree import ElementTree as ET

from markupsafe import Markup

from measurand.core.errors import InputError
from measurand.core.findings import Findings
from measurand.report.palette import variable
from measurand.report.study.plots import Plot, plots

NEEDS = "Plots need the extra `plots`: pip install 'measurand[plots]'."
_SVG = "{http://www.w3.org/2000/svg}"
_ELEMENTS = {"svg", "g", "path", "line", "rect", "text", "tspan"}
_ATTRIBUTES = {
    *("d", "transform", "x", "y", "x1", "x2", "y1", "y2", "dx", "dy", "width", "height", "viewBox", "text-anchor"),
    *("fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap", "opacity", "fill-opacity"),
    *("font-size", "font-weight"),
}
_PIXELS_PER_INCH = 144


def available() -> bool:
    """Whether the libraries that draw are installed."""
    return all(importlib.util.find_spec(name) is not None for name in ("altair", "vl_convert"))


def inline(plot: Plot) -> Markup:
    """The plot as an SVG element for a page: no styles, no links, colours by the page's variables.

    Only known elements and attributes pass, so that neither the drawing library nor a text from outside can bring in
    anything that acts. The plot's words are its label for screen readers.
    """
    root = ET.fromstring(_svg(plot))  # noqa: S314 -- written by vl-convert in this process; texts are escaped by it
    _plain(root)
    for name in ("width", "height"):
        root.attrib.pop(name, None)
    root.attrib |= {"role": "img", "aria-label": plot.alt}
    return Markup(ET.tostring(root, encoding="unicode"))  # noqa: S704 -- a whitelisted tree, escaped when written


def save(findings: Findings, folder: Path) -> list[Path]:
    """Write every plot of a study as NAME.svg and NAME.png, and return the files.

    Raises InputError where the extra is missing or the folder cannot be written.
    """
    if not available():
        raise InputError(NEEDS)
    from vl_convert import svg_to_png

    written: list[Path] = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for plot in plots(findings):
            svg = _svg(plot, titled=True)
            for ending, content in ((".svg", svg.encode()), (".png", svg_to_png(svg, ppi=_PIXELS_PER_INCH))):
                path = folder / f"{plot.name}{ending}"
                path.write_bytes(content)
                written.append(path)
    except OSError as error:
        raise InputError(f"{folder}: plots cannot be written ({error.strerror}); choose another folder") from error
    return written


def _svg(plot: Plot, *, titled: bool = False) -> str:
    from vl_convert import vegalite_to_svg

    from measurand.report.study.charts import specification

    return vegalite_to_svg(specification(plot, titled=titled), allowed_base_urls=[])


def _plain(element: ET.Element) -> None:
    """Keep what draws. The tree's own namespace goes too: in a page, SVG elements need none."""
    element.tag = element.tag.removeprefix(_SVG)
    element.attrib = {
        name: variable(value) if value.startswith("#") and name in ("fill", "stroke") else value
        for name, value in element.attrib.items()
        if name in _ATTRIBUTES
    }
    for child in list(element):
        if child.tag.removeprefix(_SVG) not in _ELEMENTS or child.get("display") == "none":
            element.remove(child)
        else:
            _plain(child)
