"use strict";
// The browser of games: every board is in the page as text; stepping shows the next one and marks what changed.
(function () {
  const games = JSON.parse(document.getElementById("data").textContent);
  if (!games.length) return;
  const at = (id) => document.getElementById(id);
  const [pick, board, slider, list] = [at("pick"), at("board"), at("ply"), at("moves")];
  let game = games[0];
  let ply = 0;

  function result(each) {
    if (each.outcome === null) return "void";
    return each.outcome === 1 ? "1-0" : each.outcome === 0 ? "0-1" : "1/2";
  }

  function ending(each) {
    const words = each.outcome === null ? "Void" : each.outcome === 0.5 ? "Draw"
      : (each.outcome === 1 ? each.first : each.second) + " wins";
    return words + " (" + each.reason + (each.detail ? ": " + each.detail : "") + ")";
  }

  // The text of a board, with the characters marked that differ from the board before, if both have one shape.
  function fill(text, before) {
    board.replaceChildren();
    if (before === null || before.length !== text.length) {
      board.textContent = text;
      return;
    }
    let from = 0;
    for (let i = 0; i <= text.length; i++) {
      if (i < text.length && (text[i] === before[i] || text[i] === "\n")) continue;
      board.append(text.slice(from, i));
      if (i < text.length) {
        const mark = document.createElement("mark");
        mark.textContent = text[i];
        board.append(mark);
      }
      from = i + 1;
    }
  }

  function said() {
    if (ply === 0) return "The beginning.";
    const move = "Ply " + ply + ": " + game.moves[ply - 1];
    const thought = game.thoughts[ply - 1];
    if (!thought) return move + (ply <= game.opening ? ", of the opening." : ".");
    const { side, value, seconds, ...counted } = thought;
    const parts = [move + ", by " + (side === 0 ? game.first : game.second)];
    if (value !== undefined) parts.push("value " + (value > 0 ? "+" : "") + value);
    for (const [name, number] of Object.entries(counted)) {
      parts.push(name.replaceAll("_", " ") + " " + number.toLocaleString("en"));
    }
    parts.push(seconds + " s");
    return parts.join("; ") + ".";
  }

  function show(target) {
    ply = Math.max(0, Math.min(game.moves.length, target));
    fill(game.boards[ply], ply > 0 ? game.boards[ply - 1] : null);
    slider.value = ply;
    at("begin").disabled = at("back").disabled = ply === 0;
    at("next").disabled = at("end").disabled = ply === game.moves.length;
    at("said").textContent = said() + (ply === game.moves.length ? " " + ending(game) + "." : "");
    for (const button of list.querySelectorAll("button")) button.removeAttribute("aria-current");
    const current = list.children[ply - 1];
    if (current) current.firstChild.setAttribute("aria-current", "step");
  }

  function open(chosen) {
    game = chosen;
    slider.max = game.moves.length;
    const where = game.condition ? game.condition + ": " : "";
    at("players").textContent = where + game.first + " moves first, " + game.second + " second: " + result(game);
    list.replaceChildren(...game.moves.map((name, i) => {
      const [item, button] = [document.createElement("li"), document.createElement("button")];
      button.type = "button";
      button.textContent = name;
      if (i < game.opening) button.className = "opening";
      button.addEventListener("click", () => show(i + 1));
      item.append(button);
      return item;
    }));
    show(0);
  }

  games.forEach((each, i) => {
    const option = document.createElement("option");
    option.value = i;
    option.textContent = each.id + ": " + each.first + " – " + each.second + ", " + result(each);
    pick.append(option);
  });
  pick.addEventListener("change", () => open(games[pick.value]));
  slider.addEventListener("input", () => show(Number(slider.value)));
  at("begin").addEventListener("click", () => show(0));
  at("back").addEventListener("click", () => show(ply - 1));
  at("next").addEventListener("click", () => show(ply + 1));
  at("end").addEventListener("click", () => show(game.moves.length));
  at("browser").addEventListener("keydown", (event) => {
    const targets = { ArrowLeft: ply - 1, ArrowRight: ply + 1, Home: 0, End: game.moves.length };
    if (!(event.key in targets) || event.target === pick || event.target === slider) return;
    event.preventDefault();
    show(targets[event.key]);
  });
  open(game);
})();
