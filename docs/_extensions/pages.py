"""What the pages have beside their text: order in docstrings, looks of pictures, and files for programs."""

from __future__ import annotations

import re
import sys
from html import escape
from pathlib import Path

from docutils import nodes
from sphinx.pycode import ModuleAnalyzer

ERRORS = re.compile(r"^:(Raises|Warns):")
EXAMPLES = ".. rubric:: Examples"


def reorder(app, what, name, obj, options, lines):
    """Put the first example before the parameters, and errors last."""
    if what not in ("class", "exception", "function", "method") or EXAMPLES not in lines:
        return
    start = lines.index(EXAMPLES)
    end = _end_of_section(lines, start)
    examples, rest = lines[start:end], [*lines[:start], *lines[end:]]
    cut = _end_of_first(examples)
    first, more = examples[:cut], examples[cut:]
    if any(line.strip() for line in more):
        more = [".. rubric:: More examples", "", *more, ""]
    errors: list[str] = []
    place = 0
    while place < len(rest):
        if not ERRORS.match(rest[place]):
            place += 1
            continue
        end = _end_of_field(rest, place)
        errors += [*rest[place:end], ""]
        del rest[place:end]
    fields = (number for number, line in enumerate(rest) if re.match(r"^:\w+:", line))
    at = next(fields, len(rest))
    lines[:] = [*rest[:at], "", *first, "", *rest[at:], "", *more, *errors]


def define(app, what, name, obj, options, lines):
    """Give a constant the docstring beneath its assignment, wherever its module is."""
    for module in sorted(sys.modules) if what == "data" else ():
        if module.startswith("sklearn_ada."):
            found = ModuleAnalyzer.for_module(module).find_attr_docs()
            lines[:] = found.get(("", name.rpartition(".")[2]), lines)


def _end_of_section(lines, start):
    """Return where the next rubric, field or comment begins: numpydoc ends every docstring with a comment."""
    begins = re.compile(r"^(\.\. rubric::|:\w+:|\.\.$)")
    after = (number for number in range(start + 1, len(lines)) if begins.match(lines[number]))
    return next(after, len(lines))


def _end_of_field(lines, start):
    after = (n for n in range(start + 1, len(lines)) if lines[n].strip() and not lines[n].startswith(" "))
    return next(after, len(lines))


def _end_of_first(lines):
    """Return where the first block of an example ends: with the first blank line after code."""
    code = next((n for n, line in enumerate(lines) if line.startswith(">>>")), len(lines))
    return next((n for n in range(code, len(lines)) if not lines[n].strip()), len(lines))


def look(gallery_conf, script):
    """Have pictures drawn with letters that are read in a thumbnail, and files of a script removed."""
    import matplotlib

    for pattern in ("*.db*", "digits.*"):
        for file in Path(gallery_conf["src_dir"], "gallery_scripts").rglob(pattern):
            file.unlink()

    matplotlib.rcParams.update({"font.size": 12, "figure.figsize": (6.4, 4.2), "lines.markersize": 8})


def write_llms(app, error):
    """Write llms.txt, a list of the pages for programs that read, with the first sentence of each."""
    if error or app.builder.name != "html":
        return
    titles = app.env.titles
    first = ["summary", "quickstart", "which_one", "reading", "api", "limits", "faq"]
    rest = sorted(name for name in titles if not name.startswith(("gallery", "generated", "index")))
    lines = ["# sklearn_ada", "", f"> {_first_sentence(app.env.get_doctree('index'))}", "", "## Pages", ""]
    for name in dict.fromkeys([*first, *rest]):
        link = f"- [{titles[name].astext()}](_sources/{name}.rst.txt)"
        lines.append(f"{link}: {_first_sentence(app.env.get_doctree(name))}".removesuffix(": "))
    Path(app.outdir, "llms.txt").write_text("\n".join([*lines, ""]), encoding="utf-8")


def describe(app, name, template, context, page):
    """Give a page its first sentence as the description that search engines show."""
    if page is not None:
        text = escape(_first_sentence(page))
        context["metatags"] = f'{context.get("metatags", "")}<meta name="description" content="{text}" />'


def tell_pictures(app, page, name):
    """Give the pictures of a script the words before them as the text that is read out in their place."""
    words = ""
    for node in page.findall() if name.startswith("gallery/") else ():
        if isinstance(node, nodes.paragraph):
            words = " ".join(node.astext().split())
        elif node.tagname == "imgsgnode":
            node["alt"] = f"{app.env.titles[name].astext()}. {words}"


def _first_sentence(page):
    """Return the first sentence of a page that says something, where to download it aside."""
    for paragraph in page.findall(nodes.paragraph):
        if isinstance(paragraph.parent, nodes.Admonition):
            continue
        for sentence in re.split(r"(?<=[.?])\s", " ".join(paragraph.astext().split())):
            if len(sentence) > 30:
                return sentence
    return ""


def setup(app):
    """Connect them."""
    app.connect("autodoc-process-docstring", reorder, priority=900)  # after numpydoc
    app.connect("autodoc-process-docstring", define)
    app.connect("html-page-context", describe)
    app.connect("doctree-resolved", tell_pictures)
    app.connect("build-finished", write_llms)
    return {"parallel_read_safe": True}
