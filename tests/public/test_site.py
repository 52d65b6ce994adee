"""The built pages in a real browser: nothing is wider than the page or lost in the dark, and search finds.

``SKLEARN_ADA_PAGES`` names the folder with the pages. Without it, or without Chromium, all is skipped.
"""

import functools
import json
import os
import re
import shutil
import subprocess
import tempfile
import threading
from html import unescape
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

import sklearn_ada

PAGES = os.environ.get("SKLEARN_ADA_PAGES", "")
BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
if not PAGES or BROWSER is None:
    pytest.skip("no pages were built (SKLEARN_ADA_PAGES), or no Chromium is there", allow_module_level=True)

LOOKED_AT = (
    *("index", "quickstart", "summary", "which_one", "details", "reading", "glossary", "faq", "results"),
    *("promise", "certificate", "ledger", "metrics", "consumers", "api", "gallery/index", "releases"),
    *("gallery/quickstart/plot_0_three_days", "generated/sklearn_ada.ReusableHoldoutCV", "theory/transcript"),
    *("generated/sklearn_ada.Holdout", "generated/sklearn_ada.exceptions.BudgetExhaustedError"),
    "mechanisms/sparse_vector",
)
SEARCHED = {"duplicates": "faq", "time series": "details", "nested": "faq", "refit": "faq"}
SEARCHED |= {"leakage": "pitfalls", "sample size": "planning", "overfitting": "which_one"}
SEARCHED |= dict.fromkeys(("multiple comparisons", "bonferroni"), "which_one")
SEARCHED |= dict.fromkeys(("save model pickle", "license", "cite"), "faq")
SEARCHED |= dict.fromkeys(("test set", "p-value", "confidence interval", "pandas"), "glossary")

# A page that shows the pages in frames of a phone's and a desk's width, and writes down what it sees.
HARNESS = """<!DOCTYPE html><meta charset="utf-8"><body><pre id="found">not yet</pre><script>
const [pages, asked] = %s, found = {wide: [], faint: [], hits: {}};
const SEEN = ".bd-article, .bd-header, .bd-footer, .bd-footer-article";
const UNREAD = ".sphx-glr-thumbcontainer, svg";
const named = (page, width, theme, element, what) =>
  [page, width, theme, element.tagName, element.className, what].join(" ");
const rest = ms => new Promise(done => setTimeout(done, ms));
async function opened(address, width) {
  const frame = document.createElement("iframe");
  frame.style.cssText = `width:${width}px;height:1000px;border:0`;
  document.body.append(frame);
  await new Promise(done => { frame.onload = done; frame.src = address; });
  return frame;
}
function isScrolled(element) {
  for (let above = element.parentElement; above?.closest(".bd-article"); above = above.parentElement)
    if (/auto|scroll/.test(above.ownerDocument.defaultView.getComputedStyle(above).overflowX)) return true;
  return false;
}
function light(colour) {
  const [r, g, b, a] = colour.match(/[\\d.]+/g).map(Number);
  const part = c => (c /= 255) <= .03928 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4;
  return {alpha: a ?? 1, value: .2126 * part(r) + .7152 * part(g) + .0722 * part(b)};
}
function behind(element, view) {
  for (let at = element; at; at = at.parentElement) {
    const seen = light(view.getComputedStyle(at).backgroundColor);
    if (seen.alpha > .5) return seen.value;
  }
  return 1;
}
function look(page, width, theme, frame) {
  const view = frame.contentWindow, text = frame.contentDocument;
  text.documentElement.dataset.theme = theme;
  const most = text.documentElement.clientWidth + 1;
  for (const element of text.body.querySelectorAll("*")) {
    const box = element.getBoundingClientRect();
    if (box.width && box.right > most && element.closest(SEEN) && !isScrolled(element))
      found.wide.push(named(page, width, theme, element, Math.round(box.right)));
    const own = [...element.childNodes].some(node => node.nodeType === 3 && node.data.trim());
    if (!own || !box.width || !element.closest(".bd-article") || element.closest(UNREAD)) continue;
    const [a, b] = [light(view.getComputedStyle(element).color).value, behind(element, view)];
    if ((Math.max(a, b) + .05) / (Math.min(a, b) + .05) < 3)
      found.faint.push(named(page, width, theme, element, element.textContent.slice(0, 30)));
  }
}
(async () => {
  for (const page of pages) for (const width of [390, 1280]) {
    const frame = await opened(`${page}.html`, width);
    for (const theme of ["light", "dark"]) look(page, width, theme, frame);
    frame.remove();
  }
  for (const words of asked) {
    const frame = await opened(`search.html?q=${encodeURIComponent(words)}`, 1280);
    const links = () => [...frame.contentDocument.querySelectorAll("#search-results li a")];
    for (let tries = 0; tries < 100 && (tries < 20 || !links().length); tries++) await rest(100);
    found.hits[words] = links().map(link => link.getAttribute("href"));
    frame.remove();
  }
  document.querySelector("#found").textContent = JSON.stringify(found);
})().catch(error => { document.querySelector("#found").textContent = JSON.stringify(String(error)); });
</script>"""


class Quiet(SimpleHTTPRequestHandler):
    """Serves the pages, and the one that looks at them."""

    harness = HARNESS % json.dumps([LOOKED_AT, [*SEARCHED]])

    def do_GET(self):
        if self.path != "/looking.html":
            return super().do_GET()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        return self.wfile.write(self.harness.encode())

    def log_message(self, *args):
        pass


@pytest.fixture(scope="module")
def seen():
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=PAGES))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as profile:
        options = "--headless --no-sandbox --disable-gpu --disable-dev-shm-usage --dump-dom --timeout=240000"
        address = f"http://127.0.0.1:{server.server_address[1]}/looking.html"
        command = [
            BROWSER,
            *options.split(),
            f"--user-data-dir={profile}",
            "--virtual-time-budget=240000",
            address,
        ]
        done = subprocess.run(command, capture_output=True, text=True, timeout=280, check=False)
    server.shutdown()
    (found,) = re.findall(r'<pre id="found">(.*?)</pre>', done.stdout, flags=re.DOTALL)
    return json.loads(unescape(found))


def test_nothing_is_wider_than_the_page_on_a_phone_or_a_desk_in_the_light_or_the_dark(seen):
    print(*seen["wide"], sep="\n")
    assert seen["wide"] == []


def test_text_is_told_from_what_is_behind_it_in_the_light_and_the_dark(seen):
    assert seen["faint"] == []


@pytest.mark.parametrize(("words", "page"), SEARCHED.items())
def test_search_finds_what_people_look_for(seen, words, page):
    assert f"{page}.html" in seen["hits"][words][0], seen["hits"][words][:5]


def test_pages_have_a_description_and_the_version_at_their_head():
    for name in ("index", "results", "gallery/quickstart/plot_0_three_days"):
        text = (Path(PAGES) / f"{name}.html").read_text()
        assert re.search(r'<meta name="description" content="\w[^"]{30,}"', text)
        assert f"sklearn_ada {sklearn_ada.__version__}</p>" in text


@pytest.mark.parametrize(
    "page", sorted(Path(PAGES).glob("gallery/*/plot_*.html")), ids=lambda page: page.stem
)
def test_examples_print_no_warning_and_no_path_of_this_machine(page):
    text = page.read_text()
    assert not re.search(r"\w+Warning:", text)
    assert tempfile.gettempdir() + "/" not in text


def test_formulas_are_set_by_the_browser_and_programs_get_a_list_of_pages():
    page = (Path(PAGES) / "theory" / "transcript.html").read_text()
    assert page.count("<math") > 40
    assert "MathJax" not in page
    listed = re.findall(r"\]\((_sources/[^)]+)\)", (Path(PAGES) / "llms.txt").read_text())
    assert len(listed) > 20
    assert all((Path(PAGES) / each).exists() for each in listed)


@pytest.mark.parametrize(
    ("page", "in_order"),
    [
        (
            "index",
            ("pip", "ReusableHoldoutCV", "published: ", "widths.svg", 'class="cards', "random_labels.svg"),
        ),
        (
            "gallery/index",
            ("Three days, one file, one certificate", "Regression", "Early stopping", "Patients"),
        ),
        ("generated/sklearn_ada.ReusableHoldoutCV", (">Examples<", "Parameters", "Attributes", ">Raises")),
        ("generated/sklearn_ada.accounting.FAILURES", ("Every way in which a question can fail",)),
        ("generated/sklearn_ada.Holdout", (">Examples<", "Parameters", ">Raises")),
        ("results", ("random_labels.svg", "<details", "</details>", "peers.svg", "<details")),
        ("api", ("ReusableHoldoutCV", "Holdout", "Metric", "Answer", "BudgetExhaustedError", "check_ledger")),
    ],
)
def test_pages_have_first_what_is_needed_first(page, in_order):
    text = (Path(PAGES) / f"{page}.html").read_text().partition("<article")[2]
    place = 0
    for part in in_order:
        assert part in text[place:], part
        place = text.index(part, place)
