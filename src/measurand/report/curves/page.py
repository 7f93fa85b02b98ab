"""A watched training run as one HTML page: the alerts, the curves, then every number."""

from __future__ import annotations

from measurand.core.curves import Curves
from measurand.core.identity import short
from measurand.report.curves.plots import plots
from measurand.report.curves.wording import KINDS, opening, rows, terms
from measurand.report.html import render
from measurand.report.study.drawn import NEEDS, available, inline
from measurand.report.study.page import Figure


def curves_page(curves: Curves) -> str:
    """One self-contained page. Without the extra `plots` the tables draw small whiskers, and the page says so."""
    drawn = available()
    return render(
        "curves/page.html.j2",
        title=opening(curves),
        c=curves,
        lead=opening(curves),
        terms=terms(curves),
        kinds=KINDS,
        figures=[Figure(plot.title, plot.protocol, inline(plot)) for plot in plots(curves)] if drawn else [],
        drawn=drawn,
        needs_plots=NEEDS,
        tables=[(curve, short(curve.protocol), list(rows(curve, curves))) for curve in curves.curves],
    )
