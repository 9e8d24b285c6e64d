"use strict";
// The browser of games: boards are lists of the page's shapes, which it puts together; below, what the agents thought.
(function () {
  const { shapes, games } = JSON.parse(document.getElementById("data").textContent);
  if (!games.length) return;
  const at = (id) => document.getElementById(id);
  const [pick, board, slider, list, values] = [at("pick"), at("board"), at("ply"), at("moves"), at("values")];
  const WIDTH = 420;
  const HEIGHT = 150;
  const [LEFT, RIGHT, TOP, BOTTOM] = [40, 8, 10, 24];
  let game = games[0];
  let ply = 0;

  const short = (number) => Number(number.toPrecision(6)).toLocaleString("en", { maximumFractionDigits: 5 });
  const alone = () => game.second === null;
  const signed = (value) => (value > 0 && !alone() ? "+" : "") + short(value);

  function result(each) {
    if (each.second === null) return each.score === null ? "broken off" : short(each.score);
    if (each.outcome === null) return "void";
    return each.outcome === 1 ? "1-0" : each.outcome === 0 ? "0-1" : "1/2";
  }

  function ending(each) {
    const why = " (" + each.reason + (each.detail ? ": " + each.detail : "") + ")";
    if (each.second === null) return (each.score === null ? "Broken off" : "Score " + short(each.score)) + why;
    const words = each.outcome === null ? "Void" : each.outcome === 0.5 ? "Draw"
      : (each.outcome === 1 ? each.first : each.second) + " wins";
    return words + why;
  }

  // Who made a move: the one who decided; of the opening nobody did.
  const mover = (thought) => thought.side === 0 ? game.first : game.second;

  function said() {
    if (ply === 0) return "The beginning." + (game.moves.length ? "" : " " + ending(game) + ".");
    const move = "Ply " + ply + ": " + game.moves[ply - 1];
    const thought = game.thoughts[ply - 1];
    const end = ply === game.moves.length ? " " + ending(game) + "." : "";
    return move + (thought ? ", by " + mover(thought) : ply <= game.opening ? ", of the opening" : "") + "." + end;
  }

  // What the agent counted, as pairs of a name and a number.
  function fill() {
    const thought = ply ? game.thoughts[ply - 1] : null;
    const { side, value, seconds, candidates, ...counted } = thought || {};
    const pairs = [];
    if (value !== undefined) pairs.push(["value", signed(value)]);
    for (const [name, number] of Object.entries(counted)) pairs.push([name.replaceAll("_", " "), short(number)]);
    if (seconds !== undefined) pairs.push(["seconds", short(seconds)]);
    at("thought").replaceChildren(...pairs.map(([name, number]) => {
      const [pair, term, told] = ["div", "dt", "dd"].map((kind) => document.createElement(kind));
      [term.textContent, told.textContent] = [name, number];
      pair.append(term, told);
      return pair;
    }));
    at("candidates").hidden = !candidates; // its place stays, so that nothing jumps from move to move
    at("candidates").tBodies[0].replaceChildren(...(candidates || []).map(row));
  }

  // A candidate of the search, with a bar as long as its share of the visits; the move that was played has a tick.
  function row([move, visits, share, value]) {
    const made = document.createElement("tr");
    const [name, count, worth, part] = ["th", "td", "td", "td"].map((kind) => document.createElement(kind));
    const played = move === game.moves[ply - 1];
    name.scope = "row";
    [name.textContent, made.className] = [move + (played ? " ✓" : ""), played ? "played" : ""];
    count.textContent = visits.toLocaleString("en");
    worth.textContent = value === null ? "–" : alone() ? short(value) : (value > 0 ? "+" : "") + value.toFixed(3);
    const [bar, percent] = [document.createElement("i"), document.createElement("span")];
    bar.style.width = "calc(" + share + " * (100% - 4.5rem))";
    percent.textContent = (100 * share).toFixed(1) + " %";
    part.className = "share";
    part.append(percent, bar);
    made.append(name, count, worth, part);
    return made;
  }

  function show(target) {
    ply = Math.max(0, Math.min(game.moves.length, target));
    const [width, height, ...parts] = game.boards[ply];
    board.setAttribute("viewBox", "0 0 " + width + " " + height);
    board.style.maxWidth = Math.max(width, 220) + "px";
    board.innerHTML = parts.map((part) => shapes[part]).join("");
    board.setAttribute("aria-label", game.game + ", " + said());
    slider.value = ply;
    slider.setAttribute("aria-valuetext", "ply " + ply);
    at("begin").disabled = at("back").disabled = ply === 0;
    at("next").disabled = at("end").disabled = ply === game.moves.length;
    at("said").textContent = said();
    fill();
    const cursor = values.querySelector(".cursor");
    if (cursor) cursor.setAttribute("transform", "translate(" + across(ply) + ")");
    for (const button of list.querySelectorAll("[aria-current]")) button.removeAttribute("aria-current");
    const current = list.children[ply - 1];
    if (!current) {
      list.scrollTop = 0;
      return;
    }
    current.firstChild.setAttribute("aria-current", "step");
    const [top, bottom] = [current.offsetTop, current.offsetTop + current.offsetHeight];
    if (top < list.scrollTop) list.scrollTop = top;
    if (bottom > list.scrollTop + list.clientHeight) list.scrollTop = bottom - list.clientHeight;
  }

  const across = (number) => LEFT + (WIDTH - LEFT - RIGHT) * number / Math.max(1, game.moves.length);

  // [ply after the move, value for the first player] of the decisions of a side.
  function course(side) {
    const points = game.thoughts.map((thought, i) => [i + 1, thought]);
    return points.filter(([, thought]) => thought && thought.side === side && thought.value !== undefined)
      .map(([number, thought]) => [number, thought.side === 1 ? -thought.value : thought.value]);
  }

  // The values of both agents along the game, for the first player, so that both lines say the same where they agree.
  function draw() {
    const courses = [course(0), course(1)];
    const all = courses.flat().map(([, value]) => value);
    // a player alone has often found its whole sequence before the first move, and then has nothing to tell
    const flat = alone() && Math.min(...all) === Math.max(...all);
    at("course").hidden = flat || !all.length;
    if (at("course").hidden) {
      values.replaceChildren();
      return;
    }
    const low = alone() ? Math.min(...all) : Math.min(-1, ...all);
    const high = alone() ? Math.max(...all) : Math.max(1, ...all);
    const up = (value) => TOP + (HEIGHT - TOP - BOTTOM) * (high - value) / (high - low);
    const rule = (value, words) => '<path class="rule" d="M' + LEFT + " " + up(value) + "H" + (WIDTH - RIGHT)
      + '"/><text class="y" x="' + (LEFT - 6) + '" y="' + (up(value) + 4) + '">' + words + "</text>";
    const rules = alone() ? rule(low, short(low)) + rule(high, short(high))
      : rule(-1, "−1") + rule(0, "0") + rule(1, "+1");
    const size = Math.max(1.5, Math.min(3.5, 100 / game.moves.length)); // half of a mark
    const mark = (side, [number, value]) => {
      const [x, y] = [across(number), up(value)];
      return side === 0 ? '<circle cx="' + x + '" cy="' + y + '" r="' + size + '"/>'
        : '<rect x="' + (x - size) + '" y="' + (y - size) + '" width="' + 2 * size + '" height="' + 2 * size + '"/>';
    };
    const line = (points, side) => '<g class="side' + side + '"><polyline points="'
      + points.map(([number, value]) => across(number) + "," + up(value)).join(" ") + '"/>'
      + points.map((point) => mark(side, point)).join("") + "</g>";
    const end = '<text class="x" x="' + (WIDTH - RIGHT) + '" y="' + (HEIGHT - 6) + '">ply ' + game.moves.length
      + '</text><text class="x begin" x="' + LEFT + '" y="' + (HEIGHT - 6) + '">0</text>';
    values.innerHTML = rules + '<path class="cursor" d="M0 ' + TOP + "V" + (HEIGHT - BOTTOM) + '"/>'
      + courses.map(line).join("") + end;
    [at("name0").textContent, at("name1").textContent] = [game.first, alone() ? "" : game.second];
    at("key1").hidden = alone();
    at("scale").textContent = (alone() ? "The score that the agent expects." : "For " + game.first
      + ", who moves first: +1 is a win, −1 a loss.") + " Click to jump to a move.";
  }

  function open(chosen) {
    game = chosen;
    slider.max = game.moves.length;
    const where = game.condition ? game.condition + ": " : "";
    at("players").textContent = where + (alone() ? game.first + ", score " + result(game)
      : game.first + " moves first, " + game.second + " second: " + result(game));
    list.replaceChildren(...game.moves.map((name, i) => {
      const [item, button] = [document.createElement("li"), document.createElement("button")];
      button.type = "button";
      button.textContent = name;
      if (i < game.opening) button.className = "opening";
      button.addEventListener("click", () => show(i + 1));
      item.append(button);
      return item;
    }));
    at("known").hidden = !game.thoughts.some((thought) => thought && thought.candidates);
    draw();
    show(0);
  }

  games.forEach((each, i) => {
    const option = document.createElement("option");
    option.value = i;
    const who = each.second === null ? each.first : each.first + " – " + each.second;
    const where = each.second === null && each.condition ? each.condition + ": " : each.id + ": ";
    option.textContent = where + who + ", " + result(each);
    pick.append(option);
  });
  pick.addEventListener("change", () => open(games[pick.value]));
  slider.addEventListener("input", () => show(Number(slider.value)));
  at("begin").addEventListener("click", () => show(0));
  at("back").addEventListener("click", () => show(ply - 1));
  at("next").addEventListener("click", () => show(ply + 1));
  at("end").addEventListener("click", () => show(game.moves.length));
  values.addEventListener("click", (event) => {
    const box = values.getBoundingClientRect();
    const x = (event.clientX - box.left) * WIDTH / box.width;
    show(Math.round((x - LEFT) / (WIDTH - LEFT - RIGHT) * game.moves.length));
  });
  at("browser").addEventListener("keydown", (event) => {
    const targets = { ArrowLeft: ply - 1, ArrowRight: ply + 1, Home: 0, End: game.moves.length };
    if (!(event.key in targets) || event.target === pick || event.target === slider) return;
    event.preventDefault();
    show(targets[event.key]);
  });
  open(game);
})();
