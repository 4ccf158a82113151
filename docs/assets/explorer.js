// Explorers: a reader moves a control, and the page shows what was computed for that setting when the site was built.
// This script looks up and shows. It computes nothing.

/** One explorer of the page. */
class Explorer {
  constructor(box) {
    this.box = box;
    this.name = box.dataset.explorer;
    this.said = box.querySelector(".ln-said");
    this.cells = [...box.querySelectorAll("[data-result]")];
    this.first = this.cells.map((cell) => cell.firstElementChild);
    this.later = this.cells.map(() => document.createElement("span"));
    this.told = this.cells.map(inWords);
    const panel = box.querySelector(".ln-controls");
    this.controls = [...panel.querySelectorAll(".ln-control")];
    this.shown = this.controls.map(chosen);
    panel.disabled = false;
    for (const event of ["pointerenter", "focusin"]) box.addEventListener(event, () => this.load());
    panel.addEventListener("input", () => this.show());
    panel.addEventListener("change", () => this.choose());
  }

  /** The results of all settings; null if they cannot be had now. */
  load() {
    this.loading ??= fetch(new URL(`explorers/${this.box.dataset.results}`, import.meta.url))
      .then((answer) => (answer.ok ? answer.json() : Promise.reject(answer.statusText)))
      .catch(() => (this.loading = null));
    return this.loading;
  }

  /** Show the setting that the controls have by the time its results are there. */
  async show() {
    const data = await this.load();
    if (!data) {
      this.controls.forEach((control, i) => put(control, this.shown[i]));
      this.say("The other settings could not be loaded. Move a control to try again.", true);
      return null;
    }
    this.shown = this.controls.map(chosen);
    const isFirst = data.controls.every(({ start }, i) => start === this.shown[i]);
    let setting = 0;
    let settings = 1;
    data.controls.forEach(({ keys, written }, i) => {
      setting = setting * keys.length + this.shown[i];
      settings *= keys.length;
      const output = this.controls[i].querySelector("output");
      if (output) output.textContent = written[this.shown[i]];
      if (output) this.controls[i].querySelector("input").setAttribute("aria-valuetext", output.textContent);
    });
    const next = data.results.map(({ at }) => setting * (at.length / settings));
    this.cells.forEach((cell, i) => {
      const { texts, parts, gone, at } = data.results[cell.dataset.result];
      const which = at[next[cell.dataset.result]++];
      this.later[i].textContent = texts[which];
      cell.replaceChildren(isFirst ? this.first[i] : this.later[i]);
      const row = cell.closest("tr");
      if (gone) row.classList.toggle("ln-gone", gone[which] === 1);
      if (parts) row.querySelector(".ln-part > span").style.setProperty("--part", parts[which]);
    });
    const words = data.controls.map(({ label, written }, i) => `${label}: ${written[this.shown[i]]}`).join(", ");
    this.box.querySelector(".ln-setting > span").textContent = words;
    return { data, isFirst, words };
  }

  /** A choice was made: keep it in the address, and say it, and what is different now. */
  async choose() {
    const showing = await this.show();
    if (!showing) return;
    const address = new URL(location.href);
    showing.data.controls.forEach(({ name, keys }, i) => {
      if (showing.isFirst) address.searchParams.delete(`${this.name}.${name}`);
      else address.searchParams.set(`${this.name}.${name}`, keys[this.shown[i]]);
    });
    history.replaceState(history.state, "", address);
    this.say([showing.words, ...this.news()].join(". "));
  }

  /** What the results say, as far as they say something else than last time. */
  news() {
    const before = this.told;
    this.told = this.cells.map(inWords);
    return this.told.filter((text, i) => text !== before[i]);
  }

  say(text, isFault = false) {
    this.said.textContent = text;
    this.said.classList.toggle("ln-fault", isFault);
  }

  /** The link to the present setting. */
  link() {
    const address = new URL(location.href);
    address.hash = `explorer-${this.name}`;
    this.box.querySelector(".ln-foot a").href = address;
  }

  /** Take the setting from the address: what cannot be chosen is ignored. */
  async restore(wanted) {
    const data = await this.load();
    data?.controls.forEach(({ name, keys }, i) => {
      const place = keys.indexOf(wanted.get(`${this.name}.${name}`));
      if (place >= 0) put(this.controls[i], place);
    });
    if (await this.show()) this.news();
  }
}

/** What a cell says, with the name of its row. */
function inWords(cell) {
  return `${cell.closest("tr").querySelector("th").textContent}: ${cell.textContent}`;
}

/** The place of what a control has chosen, among all that it offers. */
function chosen(control) {
  const inputs = [...control.querySelectorAll("input, select")];
  if (inputs[0].type === "radio") return inputs.findIndex((input) => input.checked);
  if (inputs[0].type === "checkbox") return Number(inputs[0].checked);
  return inputs[0].selectedIndex ?? Number(inputs[0].value);
}

/** Choose what has a place. */
function put(control, place) {
  const inputs = [...control.querySelectorAll("input, select")];
  if (inputs[0].type === "radio") inputs[place].checked = true;
  else if (inputs[0].type === "checkbox") inputs[0].checked = place === 1;
  else if (inputs[0].tagName === "SELECT") inputs[0].selectedIndex = place;
  else inputs[0].value = place;
}

const explorers = [...document.querySelectorAll("[data-explorer]")].map((box) => new Explorer(box));
const parameters = new URLSearchParams(location.search);
for (const explorer of explorers) {
  const mine = [...parameters.keys()].some((key) => key.startsWith(`${explorer.name}.`));
  const link = explorer.box.querySelector(".ln-foot a");
  for (const event of ["pointerdown", "focus"]) link.addEventListener(event, () => explorer.link());
  if (mine) explorer.restore(parameters);
}
