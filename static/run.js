/* Enhancements of a run's page; the socket is left to htmx. */

const seconds = 1000;
const page = document.querySelector(".run");

// keep what did not change:

document.addEventListener("htmx:oobBeforeSwap", (event) => {
  const { target, fragment } = event.detail;
  const { shows } = fragment.firstElementChild?.dataset ?? {};
  if (shows && shows !== page.dataset.shows) requestAnimationFrame(() => tell(shows));
  const first = target.matches(".run:not([data-shows~=outcome]) .outcome");
  if (first && isReading()) stayAtResearch();
  if (fragment.querySelector(".failure")) page.querySelector(".workings").open = isReading();
  if (target.dataset.rows === undefined) {
    keepOpen(target, fragment.firstElementChild);
    event.detail.shouldSwap = !isSame(target, fragment.firstElementChild);
    return;
  }
  const next = [...fragment.children];
  if (target.closest(".aspects") && !target.children.length) keepForm(next.length);
  const draft = target.closest(".drafting details");
  if (draft && !target.children.length) draft.open = !isReading();
  if (next.some((row) => document.getElementById(row.id))) {
    event.detail.shouldSwap = false;
    settleRows(target, next);
  } else {
    holdNew(target, next);
  }
});

// For the style sheet:
function tell(shows) {
  document.documentElement.dataset.runShows = page.dataset.shows = shows;
}

// A push does not close what somebody has opened.
function keepOpen(old, next) {
  for (const details of old.querySelectorAll("details[class][open]")) {
    const alike = next?.querySelectorAll(`details.${details.classList[0]}`) ?? [];
    if (alike.length === 1) alike[0].open = true;
  }
}

const isSame = (old, next) => next !== null && old.id === next.id && old.isEqualNode(next);

function settleRows(list, rows) {
  const ids = new Set(rows.map((row) => row.id));
  if (!isHeld(list)) for (const old of [...list.children]) if (!ids.has(old.id)) old.remove();
  const fresh = rows.filter((row) => !document.getElementById(row.id));
  rows.forEach((row, place) => {
    const old = document.getElementById(row.id);
    const kept = old ? settleRow(old, row) : row;
    if (list.children[place] !== kept) list.insertBefore(kept, list.children[place] ?? null);
  });
  holdNew(list, fresh);
}

const keepForm = (rows) =>
  page.querySelector(".aspects").classList.toggle("roomy", rows > 0 && rows < 5);

const aspects = document.querySelectorAll(".aspect").length;
if (aspects) keepForm(aspects);

function settleRow(old, row) {
  if (row.dataset.parts !== undefined) {
    for (const part of row.querySelectorAll("[id]")) {
      const known = document.getElementById(part.id);
      if (known && !isSame(known, part)) known.replaceWith(part);
    }
    return old;
  }
  if (isSame(withoutMarks(old), row)) return old;
  row.hidden = old.hidden;
  old.replaceWith(row);
  return row;
}

function withoutMarks(row) {
  const copy = row.cloneNode(true);
  copy.removeAttribute("hidden");
  copy.classList.remove("htmx-added", "htmx-settling");
  return copy;
}

// phones show one side at a time:

const tabs = document.querySelector(".tabs");
const showSide = () => (page.dataset.side = tabs.querySelector(":checked").value);
tabs.addEventListener("change", showSide);
showSide();

// new evidence waits for readers:

const newer = document.getElementById("show-newer");

function isReading() {
  const chosen = document.getSelection();
  return (
    scrollY > 80 ||
    (chosen && !chosen.isCollapsed) ||
    document.querySelector(".evidence details[open], .research :focus") !== null
  );
}

// A report does not take away what somebody reads or types.
function stayAtResearch() {
  page.dataset.tab = "research";
  const [report, research] = page.querySelectorAll(".run-tabs a");
  report.removeAttribute("aria-current");
  research.ariaCurrent = "page";
}

const isHeld = (list) => list.dataset.holdsNew !== undefined && newer && isReading();

function holdNew(list, rows) {
  if (!isHeld(list) || !list.children.length) return;
  for (const row of rows) row.hidden = true;
  requestAnimationFrame(countNew);
}

const held = () => document.querySelectorAll("[data-holds-new] > [hidden]");

function countNew() {
  newer.textContent = newer.dataset.text.replace("{count}", held().length);
  newer.parentElement.hidden = held().length === 0;
}

newer?.addEventListener("click", () => {
  for (const row of held()) row.hidden = false;
  countNew();
});

// fields that grow with their text, where the browser can't:

function grow() {
  if (CSS.supports("field-sizing", "content")) return;
  for (const field of document.querySelectorAll(":is(.plan-lines, .plan-terms) textarea")) {
    field.style.height = "auto";
    field.style.height = `${field.scrollHeight + field.offsetHeight - field.clientHeight}px`;
  }
}

if (!CSS.supports("field-sizing", "content")) {
  for (const kind of ["input", "htmx:afterSwap"]) document.addEventListener(kind, grow);
  addEventListener("resize", grow);
  grow();
}

// a plan's lines, whose texts move between fields:

document.addEventListener("click", ({ target }) => {
  const button = target.closest(".line-moves button");
  if (!button) return;
  const fields = [...button.closest("ol").querySelectorAll("textarea")];
  const place = fields.indexOf(button.closest("li").querySelector("textarea"));
  const way = Number(button.dataset.move);
  const next = way ? place + way : fields.length - 1;
  if (!fields[next]) return;
  const texts = fields.map((field) => field.value);
  texts.splice(next, 0, way ? texts.splice(place, 1)[0] : (texts.splice(place, 1), ""));
  fields.forEach((field, line) => (field.value = texts[line]));
  const goal = way ? fields[next].closest("li").querySelector(`[data-move="${way}"]`) : fields[place];
  goal.focus();
  grow();
});

// a lost connection:

const lost = document.querySelector(".lost");
let isLeft = false;
addEventListener("pagehide", () => (isLeft = true));
addEventListener("pageshow", () => (isLeft = false));

// htmx does not reconnect after other codes.
document.addEventListener("htmx:wsClose", ({ detail }) => {
  if (isLeft || lost.textContent || ![1006, 1011, 1012, 1013].includes(detail.event.code)) return;
  const time = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" };
  const since = new Date().toLocaleTimeString(document.documentElement.lang, time);
  lost.textContent = lost.dataset.text.replace("{time}", since);
});
document.addEventListener("htmx:wsOpen", () => (lost.textContent = ""));

// how long it has been:

const [s, min, h] = page.dataset.units.split(" ");

function lasting(passed) {
  if (passed < 60) return `${passed} ${s}`;
  const minutes = Math.floor(passed / 60);
  const rest = (value) => String(value % 60).padStart(2, "0");
  return passed < 3600
    ? `${minutes}:${rest(passed)} ${min}`
    : `${Math.floor(minutes / 60)}:${rest(minutes)} ${h}`;
}

setInterval(() => {
  if (lost?.textContent) return;
  for (const age of document.querySelectorAll("time[data-lasting]")) {
    const passed = Math.round((Date.now() - Date.parse(age.dateTime)) / seconds);
    age.textContent = lasting(Math.max(0, passed));
  }
}, seconds);

// notification of the end:

const tellMe = document.getElementById("tell-me");
const wish = `tell ${page.id}`;
// The page of notifications turns them on for all runs, this button for one.
const isWished = () => (sessionStorage.getItem(wish) ?? localStorage.getItem("tell")) === "yes";

function showWish() {
  tellMe.setAttribute("aria-pressed", isWished());
  tellMe.disabled = Notification.permission === "denied";
  if (tellMe.disabled) tellMe.lastChild.textContent = tellMe.dataset.blocked;
}

// Phones need a service worker for them.
if (tellMe && "Notification" in window && !matchMedia("(pointer: coarse)").matches) {
  tellMe.parentElement.hidden = false;
  showWish();
  tellMe.addEventListener("click", async () => {
    if (isWished()) sessionStorage.setItem(wish, "no");
    else if ((await Notification.requestPermission()) === "granted") sessionStorage.setItem(wish, "yes");
    showWish();
  });
  document.addEventListener("htmx:oobAfterSwap", () => setTimeout(tellOfTheEnd));
}

function tellOfTheEnd() {
  if (!page.querySelector("[data-ended]")) return;
  tellMe.parentElement.hidden = true;
  if (!isWished()) return;
  sessionStorage.setItem(wish, "no");
  const told = new Notification(document.title, {
    body: page.querySelector(".state").textContent,
    tag: page.id,
  });
  told.addEventListener("click", () => window.focus());
}
