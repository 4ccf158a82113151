// Run it yourself: a Run button on executed examples opens an editor in place, and Python runs the reader's version.
// The build says in attributes of a block what there is: data-run, data-megabytes; or data-needs, and it cannot run here.

const jobs = []; // in turn: all examples of a page share one interpreter; the first is running
const hints = new Set(); // where the size is told until it is loaded
let worker;

/** Run Python; `tell` hears what happens, as messages of the worker or { stopped }. Returns what stops it. */
export function run(archive, code, tell) {
  const job = { archive, code, tell };
  if (jobs.push(job) === 1) start();
  else tell({ state: "waiting" });
  return () => stop(job);
}

function start() {
  if (jobs.length === 0) return;
  const [{ archive, code, tell }] = jobs;
  if (!worker) {
    tell({ state: "loading" });
    worker = new Worker(new URL("run_worker.js", import.meta.url), { type: "module" });
    worker.onmessage = ({ data }) => heard(data);
    worker.onerror = (event) => heard({ broken: `Python could not be loaded: ${event.message ?? "a file is missing"}` });
  }
  worker.postMessage({ archive, code });
}

function heard(message) {
  jobs[0]?.tell(message);
  if ("broken" in message) end();
  if ("broken" in message || "ended" in message) next();
}

function next() {
  jobs.shift();
  start();
}

function end() {
  worker.onmessage = worker.onerror = null;
  worker.terminate();
  worker = undefined;
}

function stop(job) {
  const place = jobs.indexOf(job);
  if (place < 0) return;
  job.tell({ stopped: true });
  if (place > 0) return void jobs.splice(place, 1);
  end();
  next();
}

// The page

function make(name, properties = {}, ...children) {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
}

function equip(block) {
  const bar = block.querySelector(":scope > .ln-bar");
  const [source, printed] = block.querySelectorAll(":scope > .highlight");
  const name = block.dataset.block.replaceAll("-", " ");
  const { run: archive, megabytes, needs } = block.dataset;
  if (needs) return bar.append(make("span", { className: "run-status" }, `Cannot run here: it needs ${needs}`));

  const original = source.querySelector("code").textContent.replace(/\n$/, "");
  const id = `run-${block.dataset.block}`;
  const hint = `loads Python, about ${megabytes} MB, once`;
  const status = make("span", { className: "run-status", id: `${id}-status`, role: "status" }, worker ? "" : hint);
  const reset = make("button", { className: "run-button", type: "button", hidden: true }, "Reset");
  const button = make("button", { className: "run-button", type: "button" });
  const area = make("textarea", { id: `${id}-code`, className: "run-code", spellcheck: false, wrap: "off", autocapitalize: "off" });
  const keys = make("span", { id: `${id}-keys`, className: "run-keys" }, "Tab indents. Escape, then Tab, leaves.");
  const label = make("label", { htmlFor: area.id }, `Your version of “${name}”`);
  const editor = make("div", { className: "run-editor", hidden: true }, make("div", { className: "run-head" }, label, keys), area);
  const code = make("code");
  const result = make("div", { className: "highlight run-result", hidden: true, ariaLive: "polite" }, make("pre", {}, code));
  let halt;

  button.setAttribute("aria-describedby", status.id);
  reset.setAttribute("aria-label", `Reset the example “${name}”`);
  area.setAttribute("aria-describedby", keys.id);
  area.setAttribute("autocomplete", "off");
  source.after(editor);
  bar.append(status, reset, button);
  block.append(result);
  hints.add(status);
  say("Run");

  function say(verb, text) {
    button.textContent = verb;
    button.setAttribute("aria-label", `${verb} the example “${name}”`);
    if (text !== undefined) status.textContent = text;
  }

  function open() {
    area.value = original;
    fit(area);
    show(true);
  }

  function show(opened) {
    block.classList.toggle("run-open", opened);
    editor.hidden = reset.hidden = !opened;
  }

  // The page's output stays until there is another: nothing jumps.
  function swap(fresh) {
    result.hidden = !fresh;
    block.classList.toggle("run-ran", fresh);
  }

  function go() {
    if (halt) return halt();
    if (editor.hidden) open();
    let silent = true;
    const write = (text, error) => {
      if (silent) code.replaceChildren();
      silent = false;
      code.append(error ? make("span", { className: "run-error" }, text) : text);
      swap(true);
    };
    const finish = (text) => {
      halt = undefined;
      result.ariaBusy = "false";
      if (code.scrollWidth > code.clientWidth) code.tabIndex = 0;
      say("Run", text);
    };
    result.ariaBusy = "true";
    hints.delete(status);
    say("Stop", "");
    halt = run(archive, area.value, (message) => {
      if (message.state === "loading") say("Stop", `Loading Python, about ${megabytes} MB …`);
      if (message.state === "waiting") say("Stop", "Waiting for the other example …");
      if (message.state === "running") {
        say("Stop", "Running …");
        hints.forEach((other) => other.replaceChildren());
        hints.clear();
      }
      if (message.text) write(message.text, message.error);
      if (message.stopped) finish("Stopped.");
      if ("ended" in message) {
        const well = silent ? "Done. It printed nothing." : "Done.";
        if (silent) write("");
        finish(message.ended ? `Ended with ${message.ended}.` : well);
      }
      if ("broken" in message) finish(message.broken);
    });
  }

  button.addEventListener("click", go);
  area.addEventListener("input", () => fit(area));
  area.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      if (!halt) go();
    }
  });
  editable(area);
  reset.addEventListener("click", () => {
    halt?.();
    show(false);
    swap(false);
    status.textContent = "The page’s version is back.";
    button.focus();
  });
}

// The editor: a text area in which Tab indents, and Escape lets Tab leave again.

function fit(area) {
  area.rows = area.value.split("\n").length;
}

function editable(area) {
  let leaving = false;
  area.addEventListener("blur", () => (leaving = false));
  area.addEventListener("keydown", (event) => {
    if (event.key === "Escape") leaving = true;
    else if (event.key === "Tab" && !leaving) {
      event.preventDefault();
      indent(area, event.shiftKey);
    } else if (event.key === "Enter" && !event.isComposing && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      const line = area.value.slice(0, area.selectionStart).split("\n").pop();
      put(area, `\n${line.match(/^ */)[0]}${/:\s*$/.test(line) ? "    " : ""}`);
    } else if (!["Tab", "Shift"].includes(event.key)) leaving = false;
  });
}

function indent(area, outwards) {
  const { value, selectionStart: start, selectionEnd: end } = area;
  if (!outwards && start === end) return put(area, "    ");
  const from = value.lastIndexOf("\n", start - 1) + 1;
  const lines = value.slice(from, end);
  const changed = outwards ? lines.replace(/^ {1,4}/gm, "") : lines.replace(/^/gm, "    ");
  if (changed === lines) return;
  area.setSelectionRange(from, end);
  put(area, changed);
  area.setSelectionRange(start === end ? area.selectionEnd : from, area.selectionEnd);
}

// With the browser's own command an insertion can be undone.
function put(area, text) {
  if (document.execCommand("insertText", false, text)) return;
  area.setRangeText(text, area.selectionStart, area.selectionEnd, "end");
  area.dispatchEvent(new Event("input"));
}

if ("Worker" in window && "WebAssembly" in window)
  document.querySelectorAll("[data-block][data-run], [data-block][data-needs]").forEach(equip);
