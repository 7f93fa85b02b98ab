"""How every page is made: one file, one style sheet, and a policy under which nothing from outside can act.

Whatever a model, a data set or an endpoint wrote is text here: Jinja2 escapes every value, `visible` shows what hides
(control characters, direction overrides), and the page's own policy allows one style sheet by its hash, no script
and no request.
"""

from __future__ import annotations

import base64
import functools
import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib import resources

import jinja2
from markupsafe import Markup

from measurand.core.summary import Summary
from measurand.report.sections import Section
from measurand.report.wording import visible


def render(template: str, **values: object) -> str:
    """A template of this package with these values. The style sheet and its hash are given to all of them."""
    style = style_sheet()
    return _template(template).render(
        style=Markup(style),  # noqa: S704 -- the project's own file
        style_hash=base64.b64encode(hashlib.sha256(style.encode()).digest()).decode(),
        **values,
    )


def macro(template: str, name: str) -> Callable[..., Markup]:
    """One macro of a template, to render a part of a page on its own."""
    found: Callable[..., Markup] = getattr(_template(template).module, name)
    return found


@functools.cache
def style_sheet() -> str:
    """The style sheet of every page. Its variables are the only colours there are."""
    return resources.files("measurand.report").joinpath("page.css").read_text("utf-8")


def with_examples(sections: Sequence[Section], summaries: Sequence[Summary], room: int) -> list[Section]:
    """Give each section its examples, sharing `room`: so many bytes as escaped. The rest are counted as left out."""
    filled = []
    for laid_out, summary in zip(sections, summaries, strict=True):
        used, kept = 0, []
        for example in summary.examples:
            texts = (example.asked, example.answer, example.reading, example.gold)
            used += sum(len(str(Markup.escape(visible(text))).encode()) for text in texts)
            if used > room // len(sections):
                break
            kept.append(example)
        filled.append(replace(laid_out, examples=kept, left_out=len(summary.examples) - len(kept)))
    return filled


@functools.cache
def _template(name: str) -> jinja2.Template:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("measurand", "report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_finalize,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(name)


def _finalize(value: object) -> object:
    """Every value on its way into the page: text from outside is made visible before it is escaped."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value
