// A panel beside a figure that says where it comes from: under the mouse, with the focus, on a tap. What it says is
// copied from the lists at the end of the page, which tell the same without it.

const FIGURES = "data[data-expr], data[data-cited], data[data-given]"
const CONTROLS = "a, button, label, summary" // with figures in them they stay what they are, for clicks and keys
const WAIT = { open: 150, close: 300 } // milliseconds: so that a mouse can pass over a figure, and reach the panel
const EDGE = 8 // pixels between the panel and the edge of the window

const article = document.querySelector("article") ?? document.body
const panel = document.createElement("div")
let figure = null // whose panel is open
let trigger = null // what has the focus for it: the figure, or the link or question around it
let timer = 0
let returning = false // the focus goes back to the trigger, whose panel stays as it is

// What the lists say, by what the figures are called.

const entries = new Map()
for (const entry of document.querySelectorAll(".ln-numbers dd")) {
  const first = entry.firstElementChild
  if (first?.localName === "code") entries.set(`expr ${first.textContent}`, [entry])
}
for (const quote of document.querySelectorAll(".ln-sources [data-keys]")) {
  const source = quote.closest("[id]").firstElementChild
  for (const key of quote.dataset.keys.split(" ")) entries.set(`cited ${key}`, [quote, source])
}
const inputs = [...document.querySelectorAll("#number-inputs + dd")]

function entry({ dataset }) {
  if ("given" in dataset) return inputs
  return entries.get("cited" in dataset ? `cited ${dataset.cited}` : `expr ${dataset.expr}`) ?? []
}

// The figure that an element is or lies in; those of the lists need no panel.
function figureAt(element) {
  const found = element.closest(FIGURES)
  return found && article.contains(found) && !found.closest("[data-list]") ? found : null
}

const figuresIn = element => [...element.querySelectorAll(FIGURES)].filter(figureAt)

// The panel.

function paragraph(...content) {
  const made = document.createElement("p")
  made.append(...content)
  return made
}

// The figure as it is written, and exactly where that differs: "about 6 gigabytes", "seven".
function headline(of) {
  const written = document.createElement("strong")
  written.textContent = of.textContent
  const differs = /^-?\d+(\.\d+)?(e[-+]?\d+)?$/.test(of.value) && of.textContent.replaceAll(",", "") !== of.value
  const exact = /^-?\d+$/.test(of.value) ? of.value.replace(/\B(?=(\d{3})+$)/g, ",") : of.value
  return paragraph(written, differs ? ` = ${exact}` : "")
}

function place() {
  const lines = [...figure.getClientRects()]
  const [first, last] = [lines[0], lines[lines.length - 1]]
  const ceiling = document.querySelector(".md-header")?.getBoundingClientRect().bottom ?? 0
  const fits = last.bottom + panel.offsetHeight + EDGE <= innerHeight || first.top - panel.offsetHeight < ceiling
  const [line, top] = fits ? [last, last.bottom] : [first, first.top - panel.offsetHeight]
  const left = Math.min(line.left, document.documentElement.clientWidth - panel.offsetWidth - EDGE)
  panel.style.top = `${top + scrollY}px`
  panel.style.left = `${Math.max(left, EDGE) + scrollX}px`
}

// Open the panel of a figure; by a link or a question that has the focus, for all figures in it.
function open(wanted, by = wanted) {
  clearTimeout(timer)
  const wanting = (by === wanted ? [wanted] : figuresIn(by)).filter(one => entry(one).length)
  if (figure === wanted || !wanting.includes(wanted)) return
  close()
  ;[figure, trigger] = [wanted, by]
  const copies = one => entry(one).map(part => paragraph(...part.cloneNode(true).childNodes))
  panel.replaceChildren(...wanting.flatMap(one => [headline(one), ...copies(one)]))
  panel.hidden = false
  if (!panel.isConnected) document.body.append(panel)
  place()
  trigger.setAttribute("aria-describedby", panel.id)
}

function close() {
  clearTimeout(timer)
  trigger?.removeAttribute("aria-describedby")
  figure = trigger = null
  panel.hidden = true
}

function later(action, wait) {
  clearTimeout(timer)
  timer = setTimeout(action, wait)
}

const isHeld = () => panel.contains(document.activeElement) || trigger?.matches(":focus-visible")

// Back to the trigger, and from there on with the Tab key where the browser would go.
function back() {
  returning = true
  trigger.focus({ preventScroll: true })
  returning = false
}

function enter() {
  ;(panel.querySelector("a") ?? panel).focus()
}

panel.id = "figure-panel"
panel.className = "md-typeset ln-panel"
panel.tabIndex = -1
panel.hidden = true
panel.setAttribute("role", "dialog")
panel.setAttribute("aria-label", "Where the figure comes from")

// With script a figure can be reached by keyboard: in a table, the first of those that share an expression.

const met = new Map() // the expressions of a table that were met already
for (const found of article.querySelectorAll(FIGURES)) {
  if (figureAt(found) === null || found.closest(CONTROLS)) continue
  const table = found.closest("table")
  if (!met.has(table)) met.set(table, new Set())
  const again = table !== null && "expr" in found.dataset && met.get(table).has(found.dataset.expr)
  met.get(table).add(found.dataset.expr)
  found.tabIndex = again ? -1 : 0
  found.setAttribute("role", "button")
}

document.addEventListener("pointerover", event => {
  if (event.pointerType === "touch" || event.buttons) return
  const under = figureAt(event.target)
  if (under) later(() => open(under), WAIT.open)
  else if (panel.contains(event.target) || isHeld()) clearTimeout(timer)
  else later(close, WAIT.close)
})

document.documentElement.addEventListener("pointerleave", event => {
  if (event.pointerType !== "touch" && !isHeld()) later(close, WAIT.close)
})

document.addEventListener("pointerdown", event => {
  if (figure && !panel.contains(event.target) && figureAt(event.target) !== figure) close()
})

document.addEventListener("click", event => {
  const on = figureAt(event.target)
  if (on === null || on.closest(CONTROLS)) return
  if (on === figure && event.pointerType === "touch") return close()
  open(on)
  if (event.detail === 0 && figure) enter() // no pointer: a screen reader
})

document.addEventListener("focusin", event => {
  const { target } = event
  if (returning || panel.contains(target)) return
  const on = target.matches(CONTROLS) ? figuresIn(target).find(one => entry(one).length) : figureAt(target)
  if (on && target.matches(":focus-visible")) open(on, target)
  else if (figure && on !== figure) close()
})

document.addEventListener("keydown", event => {
  if (figure === null) return
  const { key, target } = event
  const links = [...panel.querySelectorAll("a")]
  if (key === "Escape") {
    if (panel.contains(target)) back()
    close()
  } else if ((key === "Enter" || key === " ") && target === figure) {
    event.preventDefault()
    enter()
  } else if (key === "Tab" && panel.contains(target)) {
    const forth = !event.shiftKey
    if (target !== (forth ? links.at(-1) : links[0]) && target !== panel) return
    back()
    if (forth) close()
    else event.preventDefault()
  }
})

addEventListener("resize", close)
document.addEventListener("toggle", close, true)
