"use strict";
// The server tells when there is more to show; then every part that new games change is replaced.  The browser of games
// stays as it is, so that nobody loses the game they look at; a reload brings newer games.
(function () {
  const SECONDS = 15; // between two questions, where the server has no stream for us
  const parts = ["#about", "#summary", "#study", "#standings", "#crosstable", "#scores", "#figures", "#runs"]
    .filter((part) => document.querySelector(part));
  let shown = document.body.dataset.stored;
  let busy = false;

  function lost(yes) {
    const note = document.getElementById("lost");
    if (note) note.hidden = !yes;
  }

  async function renew(stored) {
    if (busy || stored === shown) return;
    busy = true;
    try {
      const page = new DOMParser().parseFromString(await (await fetch(".")).text(), "text/html");
      if (!page.body.dataset.stored) return; // an error, in words
      for (const part of parts) {
        const [old, fresh] = [document.querySelector(part), page.querySelector(part)];
        for (const [i, details] of fresh.querySelectorAll("details").entries()) {
          details.open = Boolean(old.querySelectorAll("details")[i]?.open);
        }
        old.replaceWith(fresh);
      }
      document.title = page.title;
      shown = page.body.dataset.stored;
      document.body.dataset.stored = shown;
    } finally {
      busy = false;
    }
  }

  function listen() {
    const stream = new EventSource("events");
    stream.onopen = () => lost(false);
    stream.onmessage = (event) => renew(event.data).catch(() => lost(true));
    stream.onerror = () => {
      if (stream.readyState !== EventSource.CLOSED) {
        fetch("stored").then(() => lost(false), () => lost(true));
        return; // the browser asks again by itself
      }
      setTimeout(async () => {
        try {
          await renew((await (await fetch("stored")).text()).trim());
          lost(false);
        } catch {
          lost(true);
        }
        listen();
      }, 1000 * SECONDS);
    };
  }
  listen();
})();
