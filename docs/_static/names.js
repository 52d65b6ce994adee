// The buttons that fold a part of the side bar have no text; they are read out by the page that they belong to.
for (const summary of document.querySelectorAll(".bd-sidenav summary")) {
  const page = summary.closest("li").querySelector("a").textContent.trim();
  summary.setAttribute("aria-label", `Pages of ${page}`);
}
// Long names break between their words, not within one.
const NAMES = ".bd-sidebar-primary a, .bd-sidebar-secondary a, .bd-breadcrumbs a, .prev-next-title, .bd-article h1, " +
  ".autosummary td:first-child, table.names td:first-child";
for (const element of document.querySelectorAll(NAMES)) {
  const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT), found = [];
  while (texts.nextNode()) found.push(texts.currentNode);
  for (const text of found) {
    const words = text.data.split(/(?<=[a-z])(?=[A-Z])|(?<=_)(?=[a-z])|(?<=\w)(?=\.\w)/);
    text.replaceWith(...words.flatMap((word, number) => number ? [document.createElement("wbr"), word] : [word]));
  }
}
// On a phone a picture is moved, as a table is, rather than made too small to be read.
for (const picture of document.querySelectorAll(".bd-article img")) {
  if (picture.closest(".sphx-glr-thumbcontainer, p, table")) continue;
  const shown = picture.closest("a") ?? picture, around = document.createElement("div");
  around.className = "picture";
  shown.replaceWith(around);
  around.append(shown);
}
