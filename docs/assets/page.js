// What a page gains where scripts run: names and keys for what the theme leaves without. No page needs it to be read.

const NAMES = { __drawer: "Menu", __search: "Search" };

/** Put a button in the place of a label that opens the menu or the search, and that no key reaches. */
function openByKey(label) {
  const box = document.getElementById(label.htmlFor);
  const button = document.createElement("button");
  button.type = "button";
  button.className = label.className;
  button.dataset.opens = box.id;
  button.setAttribute("aria-label", NAMES[box.id]);
  button.append(...label.childNodes);
  const tell = () => button.setAttribute("aria-expanded", String(box.checked));
  tell();
  button.addEventListener("click", () => {
    box.click();
    if (box.id === "__search") document.querySelector(".md-search__input").focus();
  });
  box.addEventListener("change", tell);
  document.addEventListener("keydown", ({ key }) => {
    if (key !== "Escape" || !box.checked) return;
    if (box.id === "__drawer") box.click();
    button.focus();
  });
  label.replaceWith(button);
}

/** Say what a box is that can be scrolled sideways, and let the keyboard reach it. */
function reach(box) {
  const scrolls = box.scrollWidth > box.clientWidth;
  if (scrolls === box.hasAttribute("aria-label")) return;
  if (!scrolls) return ["tabindex", "role", "aria-label"].forEach((name) => box.removeAttribute(name));
  const file = box.closest(".highlight")?.querySelector(".filename")?.textContent;
  const kind = box.matches("code, pre") ? (file ?? "Code or output") : "Table";
  box.tabIndex = 0;
  box.setAttribute("role", "group");
  box.setAttribute("aria-label", `${kind}, wider than the screen`);
}

/** Look at everything that may scroll sideways. */
function reachAll() {
  document.querySelectorAll("article pre > code, article .md-typeset__scrollwrap").forEach(reach);
}

/** The theme's bars of buttons on code are no places to navigate to. */
function mute(bar) {
  bar.setAttribute("role", "presentation");
}

document.querySelectorAll(".md-header__button[for=__drawer], .md-header__button[for=__search]").forEach(openByKey);
document.querySelectorAll("nav.md-code__nav").forEach(mute);
reachAll();

new MutationObserver((changes) => {
  for (const node of changes.flatMap((change) => [...change.addedNodes])) {
    if (node instanceof Element) {
      if (node.matches("nav.md-code__nav")) mute(node);
      node.querySelectorAll("nav.md-code__nav").forEach(mute);
    }
  }
  reachAll();
}).observe(document.querySelector("article"), { childList: true, subtree: true });
addEventListener("resize", reachAll);
document.addEventListener("toggle", reachAll, true);
