// How does the search work in a page opened from disk? Browsers start no worker from file://, and Material searches in one.
// There, and only there, this class stands in for Worker: it runs the worker's program in a hidden frame.
"use strict";
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      this.frame.srcdoc = "<!doctype html><title>search</title>";
      this.ready = new Promise((resolve, reject) => {
        this.frame.addEventListener("load", () => this.start(String(address)).then(resolve, reject), { once: true });
      });
      document.body.append(this.frame);
    }

    // The frame's window becomes the worker's global scope: what it posts arrives here as a message.
    start(address) {
      const scope = this.frame.contentWindow;
      const load = (source) =>
        new Promise((resolve, reject) => {
          const script = scope.document.createElement("script");
          script.src = source;
          script.addEventListener("load", resolve);
          script.addEventListener("error", () => reject(new Error(`cannot load ${source}`)));
          scope.document.body.append(script);
        });
      scope.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      scope.importScripts = (...sources) => sources.reduce((done, source) => done.then(() => load(source)), Promise.resolve());
      return load(address);
    }

    postMessage(data) {
      this.ready.then(() => this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data: structuredClone(data) })));
    }

    terminate() {
      this.frame.remove();
    }
  };
}
