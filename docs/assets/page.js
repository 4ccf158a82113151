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
  const kind = box.matches("code") ? (file ?? "Code or output") : "Table";
  box.tabIndex = 0;
  box.setAttribute("role", "group");
  box.setAttribute("aria-label", `${kind}, wider than the screen`);
}

const sizes = new ResizeObserver((changes) => changes.forEach(({ target }) => reach(target)));

/** Watch everything that may scroll sideways, and give a new piece of code the button that copies it. */
function equip() {
  document.querySelectorAll("article :is(pre > code, .md-typeset__scrollwrap)").forEach((box) => sizes.observe(box));
  document.querySelectorAll("article .highlight > pre:not([id])").forEach(offerCopy);
}

let codes = 0;

/** A button on a piece of code; the theme's script copies what it names. */
function offerCopy(pre) {
  pre.id = `__code_${codes++}`;
  const button = document.createElement("button");
  button.className = "md-code__button";
  button.title = "Copy to clipboard";
  button.dataset.clipboardTarget = `#${pre.id} > code`;
  button.dataset.mdType = "copy";
  const bar = document.createElement("div");
  bar.className = "md-code__nav";
  bar.append(button);
  pre.prepend(bar);
}

document.querySelectorAll(".md-header__button[for=__drawer], .md-header__button[for=__search]").forEach(openByKey);
equip();
new MutationObserver(equip).observe(document.querySelector("article"), { childList: true, subtree: true });

// What the style sheet leaves for later is laid out as soon as somebody is at the page and there is time for it, a few
// milliseconds at once, so that nothing moves when they jump far down.
const LATER = "article :is(.md-content__inner > *, .ln-contents > ul, .ln-tests code > span, .doc-contents)";
const waiting = [...document.querySelectorAll(LATER)];
const soon = (step) => (window.requestIdleCallback ? requestIdleCallback(step, { timeout: 300 }) : setTimeout(step));

function layOut() {
  const start = performance.now();
  while (waiting.length && performance.now() - start < 6) {
    const block = waiting.shift();
    if (getComputedStyle(block).contentVisibility !== "auto") continue;
    block.style.contentVisibility = "visible";
    block.getBoundingClientRect();
  }
  if (waiting.length) soon(layOut);
}

const begun = new AbortController();
for (const sign of ["scroll", "pointermove", "touchstart", "keydown"]) {
  addEventListener(sign, () => { begun.abort(); soon(layOut); }, { passive: true, signal: begun.signal });
}

// Paper has no folds. Where the style sheet cannot open them, this does.
const folds = () => document.querySelectorAll("article details:not([open])");
addEventListener("beforeprint", () => {
  const closed = folds();
  closed.forEach((fold) => fold.toggleAttribute("open", true));
  addEventListener("afterprint", () => closed.forEach((fold) => fold.removeAttribute("open")), { once: true });
});
