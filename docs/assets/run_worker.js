// Python in a worker of its own: the page stays free, and what never ends can be ended with it.
// A message { archive, code } is answered by { state }, any number of { text, error }, and { ended } or { broken }.

const LONGEST = 20_000; // characters of one run: an endless loop may print for ever, and a page cannot show that
const HERE = new URL("pyodide/", import.meta.url);
const SURROUNDINGS = { PYTHONHASHSEED: "0", TZ: "UTC", LC_ALL: "C.UTF-8", LANG: "C.UTF-8", COLUMNS: "80", LINES: "24", NO_COLOR: "1" };

let runner; // the promise of the Python module that runs an example
let left = LONGEST;

async function load(archive) {
  const lost = new Promise((_, reject) => (self.fetch = strict(self.fetch, reject)));
  const { loadPyodide } = await import(new URL("pyodide.mjs", HERE));
  const all = [loadPyodide({ indexURL: HERE.href, env: SURROUNDINGS }), fetch(new URL(archive, HERE))];
  const [python, lessons] = await Promise.race([lost, Promise.all(all)]);
  python.unpackArchive(await lessons.arrayBuffer(), "zip");
  python.setStdin({ stdin: () => undefined }); // nobody types: the end of the input
  python.setStdout({ write: listen(false) });
  python.setStderr({ write: listen(true) });
  const module = python.pyimport("run_example");
  module.settle();
  return module;
}

// A file that does not come would be waited for without end.
function strict(ask, lose) {
  return async (...question) => {
    const answer = await ask(...question).catch(lose);
    if (answer?.ok === false) lose(new Error(`${answer.url}: ${answer.status}`));
    return answer;
  };
}

function listen(error) {
  const decoder = new TextDecoder();
  return (bytes) => {
    const text = decoder.decode(bytes, { stream: true });
    if (left > 0) postMessage({ text: visible(text.slice(0, left)), error });
    if (left > 0 && text.length >= left) postMessage({ text: "\n… (the rest is not shown)\n", error: true });
    left -= text.length;
    return bytes.length;
  };
}

// Control characters are written out, as on the page: it cannot show them.
function visible(text) {
  return text.replace(/[\p{C}\p{Z}]/gu, (sign) => ("\n\t \u00a0".includes(sign) ? sign : escaped(sign.codePointAt(0))));
}

function escaped(code) {
  if (code === 13) return "\\r";
  const [letter, digits] = code < 0x100 ? ["x", 2] : code < 0x10000 ? ["u", 4] : ["U", 8];
  return `\\${letter}${code.toString(16).padStart(digits, "0")}`;
}

self.onmessage = async ({ data: { archive, code } }) => {
  let what = "could not be loaded";
  try {
    runner ??= load(archive);
    const { run } = await runner;
    what = "broke down";
    left = LONGEST;
    postMessage({ state: "running" });
    postMessage({ ended: run(code) });
  } catch (error) {
    postMessage({ broken: `Python ${what}: ${error.message || error}` });
  }
};
