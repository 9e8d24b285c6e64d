"use strict";
// The server tells when there is more to show; then every part that new games change is replaced.  The browser of games
// stays as it is, so that nobody loses the game they look at; a reload brings newer games.
(function () {
  const SECONDS = 15; // between two questions, where the server has no stream for us
  const SOON = 2; // seconds until a page that is known to be old is asked for again
  const parts = ["#about", "#summary", "#study", "#standings", "#crosstable", "#scores", "#figures", "#runs"]
    .filter((part) => document.querySelector(part));
  let shown = document.body.dataset.stored;
  let latest = shown; // what the server has last told of
  let busy = false;

  function lost(yes) {
    const note = document.getElementById("lost");
    if (note) note.hidden = !yes;
  }

  // The number of games is told at once, also where the server draws the page anew only after a while.
  function count() {
    const about = document.getElementById("about");
    if (!about || !/^\d+$/.test(latest)) return;
    about.textContent = about.textContent.replace(/[\d,]+(?= of )/, Number(latest).toLocaleString("en"));
  }

  function replace(page) {
    if (document.querySelector("#games") && !document.querySelector("#pick") && page.querySelector("#pick")) {
      location.reload(); // there are games to look at now
      return;
    }
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
  }

  async function renew() {
    if (busy || latest === shown) return;
    busy = true;
    try {
      const page = new DOMParser().parseFromString(await (await fetch(".")).text(), "text/html");
      if (page.body.dataset.stored) replace(page); // else it is an error, in words
      count();
      lost(false);
    } catch {
      lost(true);
    } finally {
      busy = false;
    }
    if (latest !== shown) setTimeout(renew, 1000 * SOON);
  }

  function hear(told) {
    latest = told;
    count();
    renew();
  }

  function listen() {
    const stream = new EventSource("events");
    stream.onopen = () => lost(false);
    stream.onmessage = (event) => hear(event.data);
    stream.onerror = () => {
      if (stream.readyState !== EventSource.CLOSED) {
        fetch("stored").then(() => lost(false), () => lost(true));
        return; // the browser asks again by itself
      }
      setTimeout(() => {
        fetch("stored").then((answer) => answer.text()).then(hear, () => lost(true));
        listen();
      }, 1000 * SECONDS);
    };
  }
  listen();
})();
