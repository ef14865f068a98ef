/* A citation beside the text, and the way from one to the next. */

const on = document.addEventListener.bind(document);
const panel = () => document.getElementById("citation-panel");
let current; // marker in the text
let kept; // place of a judged finding
const QUOTE_PX = 110;
let isStepping; // the way to another citation scrolls by itself

on("htmx:beforeRequest", ({ detail: { target, elt } }) => {
  if (target === panel()) kept = elt.closest(".card")?.closest(".in-panel").scrollTop;
});

on("htmx:afterSwap", (event) => {
  if (event.detail.target !== panel()) return;
  const shown = panel().querySelector(".in-panel");
  if (kept) shown.scrollTop = kept;
  else showQuote(shown);
  for (const way of panel().querySelectorAll(ways)) way.hidden = !nextTo(way.rel);
  panel().focus({ preventScroll: true });
  const marker = place();
  if (!isStepping && marker && isCovered(marker)) marker.scrollIntoView({ block: "nearest", behavior });
  isStepping = false;
});

// by the sheet that the panel is on narrower screens, or by the edge of the window
function isCovered(marker) {
  const { top, bottom } = marker.getBoundingClientRect();
  const isSheet = getComputedStyle(panel()).position === "fixed";
  return top < 0 || bottom > (isSheet ? panel().getBoundingClientRect().top : innerHeight);
}

// as little as shows how the quote begins
function showQuote(shown) {
  const edges = (part) => part?.getBoundingClientRect() ?? { top: innerHeight };
  const quotes = shown?.querySelectorAll(".stored mark");
  if (!quotes?.length) return;
  const above = edges(shown.querySelector(".citation-nav")).bottom + 8;
  const below = edges(shown.querySelector(".judge")).top - 8;
  const [first, last] = [edges(quotes[0]).top, edges([...quotes].at(-1)).bottom];
  const enough = Math.min(last, first + QUOTE_PX);
  shown.scrollTop += Math.max(0, Math.min(enough - below, first - above));
}

on("keydown", ({ key, target, ctrlKey, metaKey, altKey }) => {
  if (ctrlKey || metaKey || altKey || target.closest("input, textarea, select, dialog")) return;
  if (key === "Escape" && panel()?.firstElementChild) close();
  if (key === "j") step("next");
  if (key === "k") step("prev");
});

function close() {
  panel().replaceChildren();
  CSS.highlights?.delete("cited");
  place()?.focus({ preventScroll: true });
}

// from marker to marker, as they stand in the text:

const ways = ".citation-nav [rel]";
const behavior = matchMedia("(prefers-reduced-motion: reduce)").matches ? "instant" : "smooth";
const markers = () => [...document.querySelectorAll(":is(.answer, .report) .cite a")];
const alike = (link) => markers().find((marker) => marker.href === link.href);

function mark(marker) {
  current?.removeAttribute("aria-current");
  current = marker;
  if (current) current.ariaCurrent = "true";
  showStatement();
}

// what stands before a marker, from the citation before it on
function showStatement() {
  const cite = current?.closest(".cite");
  const block = cite?.closest("p, li, td, blockquote") ?? cite?.parentElement;
  CSS.highlights?.delete("cited");
  if (!block || !CSS.highlights) return;
  const said = new Range();
  said.setStart(block, 0);
  said.setEndBefore(cite);
  for (const other of block.querySelectorAll(".cite, .lead-in")) {
    if (other === cite) break;
    const between = said.cloneRange();
    between.setStartAfter(other);
    if (`${between}`.trim()) said.setStartAfter(other);
  }
  CSS.highlights.set("cited", new Highlight(said));
}

// a report that came again has other markers
function place() {
  if (current && !current.isConnected) {
    mark(alike(current));
    unfold(current);
  }
  return current;
}

function unfold(marker) {
  const fold = marker?.closest("details:not([open])");
  if (!fold) return;
  fold.open = true;
  unfold(marker);
}

// in the list of sources, markers have no note
const isNoted = (marker) => marker.dataset.note ?? marker.title;

function nextTo(rel) {
  const from = place();
  const side = rel === "next" ? Node.DOCUMENT_POSITION_FOLLOWING : Node.DOCUMENT_POSITION_PRECEDING;
  const isThere = (marker) => !from || from.compareDocumentPosition(marker) & side;
  const there = markers().filter((marker) => isNoted(marker) && isThere(marker));
  return there.at(rel === "next" ? 0 : -1);
}

function step(rel) {
  const marker = nextTo(rel);
  if (!marker || !panel().parentElement.checkVisibility()) return;
  unfold(marker);
  isStepping = true;
  marker.click();
  marker.scrollIntoView({ block: "center", behavior });
}

// before htmx, which may not know the link yet: a key never leaves the page
on("click", follow, true);

function follow(event) {
  const link = event.target.closest(".cite a, .panel a");
  if (!link || event.ctrlKey || event.metaKey) return;
  const isWay = link.matches(ways);
  if (isWay) event.stopPropagation();
  if (isWay || !event.isTrusted) event.preventDefault();
  if (isWay) step(link.rel);
  else if (alike(link)) mark(alike(link));
}

on("click", (event) => {
  if (!event.target.closest(".panel-close")) return;
  event.preventDefault();
  close();
});
