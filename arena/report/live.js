"use strict";
// While the run goes on, every part that new games change is replaced.  The browser of games stays as it is, so that
// nobody loses the game they look at; a reload brings newer games.
(function () {
  const SECONDS = 5;
  const parts = ["#about", "#summary", "#study", "#standings", "#crosstable", "#figures"]
    .filter((part) => document.querySelector(part));
  let shown = document.body.dataset.stored;

  async function renew() {
    try {
      const stored = (await (await fetch("stored")).text()).trim();
      if (stored === shown) return;
      const page = new DOMParser().parseFromString(await (await fetch(".")).text(), "text/html");
      for (const part of parts) document.querySelector(part).replaceWith(page.querySelector(part));
      document.title = page.title;
      shown = page.body.dataset.stored;
      document.body.dataset.stored = shown;
    } catch (error) {
      const about = document.querySelector("#about");
      if (!about.dataset.lost) about.append(" (the run has ended, or its server cannot be reached)");
      about.dataset.lost = "yes";
    }
  }
  setInterval(renew, 1000 * SECONDS);
})();
