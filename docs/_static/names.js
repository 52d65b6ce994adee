// The buttons that fold a part of the side bar have no text; they are read out by the page that they belong to.
for (const summary of document.querySelectorAll(".bd-sidenav summary")) {
  const page = summary.closest("li").querySelector("a").textContent.trim();
  summary.setAttribute("aria-label", `Pages of ${page}`);
}
