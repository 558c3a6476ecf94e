"use strict";
// The page of `ingestd console`. What devices, files and backends say is only ever text here, never markup.

const $ = id => document.getElementById(id);
const pause = milliseconds => new Promise(done => setTimeout(done, milliseconds));

/** An element with its properties and what stands in it. */
function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children.filter(child => child !== null && child !== undefined));
  return made;
}

function button(text, action, label = text, isPlain = false) {
  const made = element("button", { type: "button", textContent: text, className: isPlain ? "plain" : "" });
  made.setAttribute("aria-label", label);
  made.addEventListener("click", () => guarded(action, made));
  return made;
}

/** Runs an action with its button switched off, and says what went wrong. */
async function guarded(action, control) {
  if (control) control.disabled = true;
  try {
    $("notice").textContent = "";
    await action();
  } catch (error) {
    $("notice").textContent = error.message;
  } finally {
    if (control) control.disabled = false;
  }
}

/** A request to the program, which hands it to the service. */
async function ask(method, path, body) {
  let answer;
  try {
    answer = await fetch(path, {
      method, cache: "no-store", credentials: "same-origin",
      headers: body === undefined ? {} : { "Content-Type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch {
    throw new Error("ingestd console has ended: start it again, and open its new address.");
  }
  const said = await answer.json().catch(() => ({}));
  if (answer.ok) return said;
  const error = new Error(said.error || `The answer was HTTP ${answer.status}.`);
  error.status = answer.status;
  throw error;
}

/** Asks a question that has two answers. */
function confirmed(text, yes) {
  $("confirm-text").textContent = text;
  $("confirm-yes").textContent = yes;
  const dialog = $("confirm");
  dialog.returnValue = "no";
  dialog.showModal();
  return new Promise(done =>
    dialog.addEventListener("close", () => done(dialog.returnValue === "yes"), { once: true }));
}

const plural = (count, one, many) => `${count} ${count === 1 ? one : many}`;

function age(seconds) {
  if (seconds === undefined || seconds === null) return "never";
  if (seconds < 120) return `${Math.max(0, seconds)} s ago`;
  if (seconds < 7200) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 172800) return `${Math.floor(seconds / 3600)} h ago`;
  return `${Math.floor(seconds / 86400)} d ago`;
}

// Health, devices and destinations

let status;

async function refresh() {
  status = await ask("GET", "/v1/status");
  $("gateway").textContent = status.gateway;
  $("version").textContent = `Version ${status.version}, running for ${age(status.uptime_s).replace(" ago", "")}`;
  $("summary").textContent = status.healthy ? "Healthy: nothing needs you." : "Something needs you:";
  $("summary").className = status.healthy ? "good" : "bad";
  $("problems").replaceChildren(...status.problems.map(text => element("li", { textContent: text })));
  const listening = status.adapters.filter(adapter => adapter.listening).map(adapter => adapter.name);
  const facts = [
    ["Bluetooth", listening.length ? `${listening.join(", ")} listening` : "no adapter listens"],
    ["Clock", status.clock_right ? "right" : "not known to be right"],
    ["Queue", `${status.queue.level}, ${size(status.queue.bytes)} of ${size(status.queue.max_bytes)}`],
  ];
  $("facts").replaceChildren(...facts.flatMap(([name, text]) =>
    [element("dt", { textContent: name }), element("dd", { textContent: text })]));
  showList("device-list", status.peripherals.map(deviceCard));
  $("no-devices").hidden = status.peripherals.length > 0;
  showList("destination-list", status.destinations.map(destinationCard));
  $("no-destinations").hidden = status.destinations.length > 0;
  showOwners();
  for (const id of ["health", "devices", "search", "destinations", "plots"]) $(id).hidden = false;
}

const size = bytes => bytes === undefined || bytes === null ? "?" : bytes < 1 << 20
  ? `${Math.round(bytes / 1024)} KiB` : `${Math.round(bytes / (1 << 20))} MiB`;

/** Replaces cards, but not while one has the keyboard's focus, which would be lost. */
function showList(id, cards) {
  const list = $(id);
  if (!list.contains(document.activeElement)) list.replaceChildren(...cards);
}

const states = {
  "unheard": "not heard yet", "idle": "ready", "waiting": "waiting for its turn", "reading": "being read",
  "quieting": "read, still sending", "cooling": "read, in its pause", "backing-off": "the last read failed",
  "bond-missing": "has to be paired",
};

const nameOf = device => device.alias || device.address || `model ${device.id}`;

function deviceCard(device) {
  const name = nameOf(device);
  const target = device.address || String(device.id);
  return element("li", {},
    element("h3", { textContent: name }),
    element("p", { className: "quiet", textContent: `model ${device.id}${device.address ? `, ${device.address}` : ""}` }),
    element("p", { className: device.state === "bond-missing" || device.state === "backing-off" ? "bad" : "",
      textContent: states[device.state] || device.state }),
    element("p", { textContent: `Last reading ${age(device.last_reading_s)}, heard ${age(device.last_seen_s)}`
      + (device.battery === undefined ? "" : `, battery ${device.battery} %`) }),
    button("Take a reading", () => follow("/v1/reads", { target, timeout: 120, dry_run: false },
      `Reading ${name}`), `Take a reading of ${name}`),
    button(device.bonded ? "Pair anew" : "Pair", () => follow("/v1/pairings", { target }, `Pairing ${name}`),
      `Pair ${name}`, true),
    device.address ? button("Readings", () => choosePlot(device.address), `Show readings of ${name}`, true) : null);
}

const conditions = {
  "up": "up", "down": "down", "auth-rejected": "rejects the credential", "misconfigured": "does not take requests there",
  "signed-out": "not signed in", "not-configured": "not configured any more",
};

function destinationCard(destination) {
  const { name } = destination;
  const isUp = destination.state === "up";
  const card = element("li", {},
    element("h3", { textContent: name }),
    element("p", { className: isUp ? "good" : "bad", textContent: (conditions[destination.state] || destination.state)
      + (destination.last_error ? `: ${destination.last_error}` : "") }),
    element("p", { textContent: `${destination.pending} waiting, ${destination.submitted} delivered, `
      + `${destination.failed} refused` }));
  if (destination.failed === 0) return card;
  const refused = plural(destination.failed, "refused record", "refused records");
  card.append(
    button("Retry", async () => {
      let after, released = 0;
      do {
        const part = await ask("POST", "/v1/failed/retry", { selection: { records: [], destination: name }, after });
        released += part.released;
        after = part.next;
      } while (after !== undefined && after !== null);
      $("notice").textContent = `${plural(released, "record goes", "records go")} to ${name} again.`;
      await refresh();
    }, `Send the ${refused} to ${name} again`),
    button("Give up", async () => {
      if (!await confirmed(`Give up ${refused} of ${name}? ${name} will never get them.`, "Give them up")) return;
      let part, dropped = 0;
      do {
        part = await ask("POST", "/v1/failed/drop", { records: [], destination: name });
        dropped += part.dropped;
      } while (part.part && part.dropped > 0);
      $("notice").textContent = `${plural(dropped, "record was", "records were")} given up.`;
      await refresh();
    }, `Give up the ${refused} of ${name}`, true));
  return card;
}

// Orders: scans, readings and pairings. The service stops one that nobody asks after.

let order = null;

async function follow(path, body, title) {
  if (order !== null) throw new Error("Something is under way: stop it, or wait for its end.");
  const begun = await ask("POST", path, body);
  order = begun.id;
  $("order-title").textContent = title;
  $("steps").replaceChildren();
  $("stop").hidden = false;
  $("close").hidden = true;
  $("order").hidden = false;
  $("order-title").focus();
  let after = 0;
  try {
    while (order !== null) {
      const part = await ask("GET", `/v1/orders/${begun.id}?after=${after}`);
      for (const step of part.steps) {
        after = step.number;
        showStep(step);
        if (["done", "paired", "failed"].includes(step.step)) return part.devices;
      }
    }
  } finally {
    order = null;
    for (const id of ["passkey-form", "number-form", "stop"]) $(id).hidden = true;
    $("close").hidden = false;
    refresh().catch(() => {});
  }
}

function showStep(step) {
  const words = {
    "scanning": `Searching: ${plural(step.found || 0, "device", "devices")} so far, ${step.seconds || 0} s to go`,
    "record": "It gave a reading", "done": "Done",
  };
  const text = [step.text || words[step.step] || step.step.replaceAll("-", " "), step.code].filter(Boolean).join("  ");
  const last = $("steps").lastElementChild;
  const item = element("li", { textContent: text, className: step.step === "failed" ? "bad" : "" });
  item.dataset.step = step.step;
  if (step.step === "scanning" && last && last.dataset.step === "scanning") last.replaceWith(item);
  else $("steps").append(item);
  $("passkey-form").hidden = step.step !== "passkey-wanted";
  $("number-form").hidden = step.step !== "confirm-number";
  if (step.step === "passkey-wanted") $("passkey").focus();
  if (step.step === "confirm-number") $("same").focus();
  $("order").dataset.number = step.number;
}

const answer = body => ask("POST", `/v1/orders/${order}/answer`, { ...body, step: Number($("order").dataset.number) });

$("passkey-form").addEventListener("submit", event => {
  event.preventDefault();
  guarded(async () => {
    await answer({ passkey: $("passkey").value });
    $("passkey").value = "";
    $("passkey-form").hidden = true;
  });
});
for (const [id, same] of [["same", true], ["other", false]]) {
  $(id).addEventListener("click", () => guarded(async () => {
    await answer({ same_number: same });
    $("number-form").hidden = true;
  }));
}
$("stop").addEventListener("click", () => guarded(async () => {
  if (order !== null) await ask("DELETE", `/v1/orders/${order}`);
}, $("stop")));
$("close").addEventListener("click", () => {
  $("order").hidden = true;
  $("main").focus();
});

// Adding a device

let found = [];
let chosen = null;

$("scan").addEventListener("click", () => guarded(async () => {
  $("add").hidden = true;
  $("added").replaceChildren();
  found = await follow("/v1/scans", { seconds: 15 }, "Searching") || [];
  showFound();
}, $("scan")));
$("all-devices").addEventListener("change", showFound);

function showFound() {
  const shown = found.filter(device => $("all-devices").checked || device.matches.some(match => match.readable));
  const cards = shown.map(device => {
    const models = device.matches.filter(match => match.readable);
    const name = device.name || models[0]?.name || device.address;
    return element("li", {},
      element("h3", { textContent: name }),
      element("p", { className: "quiet", textContent: device.address
        + (device.signal === undefined || device.signal === null ? "" : `, ${device.signal} dBm`) }),
      element("p", { textContent: device.listed ? "allowed already"
        : models.map(match => match.name).join(", ") || "no known model" }),
      models.length && !device.listed ? button("Choose", () => choose(device, models), `Choose ${name}`) : null);
  });
  $("found").replaceChildren(...(cards.length ? cards
    : [element("li", { textContent: "Nothing was heard. Switch the device on, and search again." })]));
}

function choose(device, models) {
  chosen = device;
  $("add-title").textContent = device.name || device.address;
  $("model").replaceChildren(...models.map(model => element("option", { value: model.id, textContent: model.name })));
  $("alias").value = "";
  $("subject").value = "";
  $("add").hidden = false;
  $("add-title").focus();
}

$("add").addEventListener("submit", event => {
  event.preventDefault();
  guarded(async () => {
    const made = await ask("POST", "/devices", {
      id: Number($("model").value), address: chosen.address,
      alias: $("alias").value || undefined, subject: $("subject").value || undefined,
    });
    $("add").hidden = true;
    $("found").replaceChildren();
    $("added").replaceChildren(
      element("p", { textContent: made.written ? `${made.path} was written, and the service has taken it up.`
        : "This user may not write the configuration. Put this under peripherals, then run ingestd reload:" }),
      ...(made.written ? [] : [element("pre", { textContent: made.entry })]));
    await refresh();
  });
});

// Plots

const charts = [
  ["Blood pressure", ["systolic", "diastolic"]], ["Pulse", ["pulse-rate", "heart-rate"]], ["Glucose", ["glucose"]],
  ["Weight", ["weight"]], ["Temperature", ["body-temperature"]], ["Oxygen saturation", ["spo2"]],
];

function showOwners() {
  if ($("plot-of") === document.activeElement) return;
  const before = $("plot-of").value;
  const devices = status.peripherals.filter(device => device.address);
  $("plot-of").replaceChildren(
    ...devices.map(device => element("option", { value: device.address, textContent: nameOf(device) })),
    element("option", { value: "", textContent: "a person" }));
  if ([...$("plot-of").options].some(option => option.value === before)) $("plot-of").value = before;
  $("person-row").hidden = $("plot-of").value !== "";
}

$("plot-of").addEventListener("change", () => { $("person-row").hidden = $("plot-of").value !== ""; });
$("plot").addEventListener("submit", event => {
  event.preventDefault();
  guarded(showPlots);
});
$("clear").addEventListener("click", () => {
  $("charts").replaceChildren();
  $("plot-note").textContent = "";
});

async function choosePlot(address) {
  $("plot-of").value = address;
  $("person-row").hidden = true;
  await showPlots();
  $("plots-title").focus();
}

async function showPlots() {
  const since = Math.floor(Date.now() / 1000) - Number($("days").value) * 86400;
  const device = $("plot-of").value;
  const whose = device ? { device } : { subject: $("person").value };
  if (!device && !whose.subject) throw new Error("Say whose readings: the person as in the configuration.");
  const { readings, part } = await ask("POST", "/v1/readings", { since, ...whose });
  readings.reverse();
  const context = new Map(readings.filter(reading => reading.kind === "glucose-context" && reading.related)
    .map(reading => [reading.related, reading.flags.join(", ")]));
  const drawn = charts.flatMap(([title, types]) => {
    const points = readings.flatMap(reading => reading.values
      .filter(value => types.includes(value.type) && reading.kind !== "glucose-context")
      .map(value => ({ ...value, time: reading.time, shown: reading.shown, more: context.get(reading.id) || "" })));
    return [...new Set(points.map(point => point.unit))].map(unit =>
      chart(`${title} (${unit})`, types, points.filter(point => point.unit === unit)));
  });
  $("charts").replaceChildren(...drawn);
  $("plot-note").textContent = (readings.length ? plural(readings.length, "reading", "readings") : "There are no readings")
    + (part ? "; older ones are left out: ingestd records" : "") + ".";
}

function mark(name, attributes, text) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

/** A drawing, and the same as a table. Numbers are shown with the device's digits. */
function chart(title, types, points) {
  const good = points.filter(point => point.number !== undefined && point.number !== null);
  const [width, height, left, bottom, edge] = [640, 240, 52, 28, 12];
  const values = good.map(point => Number(point.number));
  let [low, high] = [Math.min(...values), Math.max(...values)];
  const room = (high - low) * 0.1 || Math.abs(high) * 0.05 || 1;
  [low, high] = [low - room, high + room];
  const [first, last] = [good[0]?.time, good.at(-1)?.time];
  const x = time => left + (width - left - edge) * (last > first ? (time - first) / (last - first) : 0.5);
  const y = value => edge + (height - bottom - edge) * (high - value) / (high - low);
  const drawing = mark("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${title}, `
    + `${plural(good.length, "value", "values")}; the table below has them all` });
  if (good.length) {
    for (const step of [0, 1, 2, 3]) {
      const value = low + (high - low) * step / 3;
      drawing.append(mark("line", { x1: left, x2: width - edge, y1: y(value), y2: y(value), class: "grid" }),
        mark("text", { x: left - 6, y: y(value) + 4, "text-anchor": "end" }, value.toPrecision(3)));
    }
    drawing.append(mark("text", { x: left, y: height - 8 }, good[0].shown.slice(0, 16)));
    if (last > first) {
      drawing.append(mark("text", { x: width - edge, y: height - 8, "text-anchor": "end" },
        good.at(-1).shown.slice(0, 16)));
    }
  }
  const present = types.filter(type => good.some(point => point.type === type));
  present.forEach((type, place) => {
    const own = good.filter(point => point.type === type);
    const colour = ["one", "two", "three"][place];
    const path = own.map(point => `${x(point.time)},${y(Number(point.number))}`).join(" ");
    drawing.append(mark("polyline", { points: path, class: `curve ${colour}`, "stroke-dasharray": place ? "6 4" : "none" }));
    for (const point of own) {
      const dot = mark("circle", { cx: x(point.time), cy: y(Number(point.number)), r: 4, class: colour });
      dot.append(mark("title", {}, `${type} ${point.number} ${point.unit}, ${point.shown} ${point.more}`));
      drawing.append(dot);
    }
  });
  const rows = points.toReversed().map(point => element("tr", {},
    element("td", { textContent: point.shown }), element("td", { textContent: point.type }),
    element("td", { textContent: point.number ?? "not measured" }), element("td", { textContent: point.more })));
  const heads = ["Time", "What", "Value", "Context"].map(text => element("th", { textContent: text, scope: "col" }));
  return element("figure", {}, element("figcaption", { textContent: title }), drawing,
    present.length > 1 ? element("p", { className: "quiet",
      textContent: `${present[0]}: full line; ${present[1]}: dashed` }) : null,
    element("details", {}, element("summary", { textContent: "As a table" }),
      element("div", { className: "scroll" },
        element("table", {}, element("thead", {}, element("tr", {}, ...heads)), element("tbody", {}, ...rows)))));
}

// The start: the key behind the # of the address opens the page once.

async function start() {
  const key = location.hash.slice(1);
  if (key) {
    history.replaceState(null, "", "/");
    await ask("POST", "/session", { key });
  }
  await refresh();
  for (;;) {
    await pause(5000);
    if (document.visibilityState !== "visible") continue;
    try {
      await refresh();
    } catch (error) {
      $("notice").textContent = error.message;
      if (error.status === 401) return;
    }
  }
}

guarded(start);
