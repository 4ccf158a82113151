// The theme starts the worker of its search with every page. Here it waits until somebody searches for the first time:
// then the theme's own worker, whose file the part of this address behind the # names, is loaded and takes over.

const SETUP = 0; // the theme's numbers for its messages
const READY = 1;
const RESULT = 3;
const waiting = [];
let setup = null;
let state = "idle"; // then "loading", then "ready"

/** Load the theme's worker, give it the index, and when it is ready, what was asked meanwhile. */
function load() {
  const answer = self.postMessage;
  self.postMessage = (message) => {
    if (message.type !== READY) return answer.call(self, message);
    self.postMessage = answer;
    state = "ready";
    waiting.forEach(hand);
  };
  state = "loading";
  importScripts(new URL(`javascripts/workers/${location.hash.slice(1)}`, location));
  hand(setup);
}

/** Hand a message to the theme's worker, which listens to the same events. */
function hand(data) {
  dispatchEvent(new MessageEvent("message", { data }));
}

addEventListener("message", (event) => {
  if (state === "ready" || !event.isTrusted) return; // for the theme's worker
  event.stopImmediatePropagation();
  if (event.data.type === SETUP) {
    setup = event.data;
    postMessage({ type: READY });
  } else if (state === "idle" && !event.data.data) {
    postMessage({ type: RESULT, data: { items: [], suggest: [] } }); // it asks for nothing as soon as it is there
  } else {
    waiting.push(event.data);
    if (state === "idle") load();
  }
});
