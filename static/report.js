/* Reading a report: citations beside the text, their glances, and copies. */

// a citation beside the text:

const panel = () => document.getElementById("citation-panel");
let opener = null;

document.addEventListener("htmx:beforeRequest", (event) => {
  if (event.detail.target === panel() && event.detail.elt.closest(".cite")) {
    opener = event.detail.elt;
  }
});

document.addEventListener("htmx:afterSwap", (event) => {
  if (event.detail.target !== panel()) return;
  panel().parentElement.classList.add("panel-open");
  const copy = panel().querySelector(".stored");
  const mark = copy?.querySelector("mark");
  if (mark) copy.scrollTop = mark.offsetTop - 4;
  panel().focus({ preventScroll: true });
});

document.addEventListener("keydown", (event) => {
  const open = panel()?.firstElementChild;
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest("input, textarea, select")) return;
  if (!open && event.key === "j") document.querySelector(".cite a")?.click();
  if (!open) return;
  if (event.key === "Escape") close();
  if (event.key === "j") panel().querySelector("[rel=next]")?.click();
  if (event.key === "k") panel().querySelector("[rel=prev]")?.click();
});

document.addEventListener("click", (event) => {
  if (event.target.closest(".panel-close")) {
    event.preventDefault();
    close();
  }
});

// copy with citations:

if (navigator.clipboard) document.querySelector(".run").dataset.copies = "";

document.addEventListener("click", async ({ target }) => {
  const copy = target.closest("[data-copy]");
  if (!copy) return;
  const text = await (await fetch(copy.dataset.copy)).text();
  await navigator.clipboard.writeText(text);
  copy.lastElementChild.textContent = copy.dataset.done;
});

// the menu ends above the foot of the window:

const menu = document.querySelector(".exports ul");
menu?.parentNode.addEventListener("toggle", () => {
  menu.style.maxHeight = `${Math.max(160, innerHeight - menu.getBoundingClientRect().top - 8)}px`;
});

// a follow-up is sent by Enter, where the keyboard has another way to a new line:

document.addEventListener("keydown", (event) => {
  const { target, key, shiftKey, ctrlKey, metaKey, isComposing } = event;
  if (key !== "Enter" || shiftKey || ctrlKey || metaKey || isComposing) return;
  if (!target.matches("#ask-on textarea") || matchMedia("(pointer: coarse)").matches) return;
  event.preventDefault();
  if (target.value.trim()) target.form.requestSubmit();
});

// the section that is read:

window.addEventListener("scroll", tellSection, { passive: true });

function tellSection() {
  const begun = (title) => title.getBoundingClientRect().top < innerHeight / 3;
  const read = [...document.querySelectorAll(".report h2[id]")].findLast(begun);
  for (const link of document.querySelectorAll(".contents a")) {
    if (link.hash === `#${read?.id}`) link.ariaCurrent = "true";
    else link.removeAttribute("aria-current");
  }
}

// saving:

function closeMenu(event) {
  const menu = document.querySelector(".exports[open]");
  if (!menu || event.target.closest(".exports :is(summary, [data-copy])")) return;
  if (event.type === "click" || event.key === "Escape") menu.open = false;
}
for (const kind of ["click", "keydown"]) document.addEventListener(kind, closeMenu);

// a glance at a citation:

const glance = Object.assign(document.createElement("div"), { className: "glance", hidden: true });
document.body.append(glance);

const part = (kind, text) => Object.assign(document.createElement(kind), { textContent: text });

function showGlance(event) {
  const marker = event.target.closest?.(".cite a");
  if (!marker || (marker === opener && panel().firstElementChild)) return;
  marker.dataset.note ??= marker.title;
  marker.removeAttribute("title");
  const [title, facts, ...quotes] = marker.dataset.note.split("\n");
  glance.replaceChildren(part("b", title), part("small", facts), quotes.join("\n"));
  glance.hidden = !marker.dataset.note;
  const at = marker.getBoundingClientRect();
  const left = Math.min(at.left, document.documentElement.clientWidth - glance.offsetWidth - 16);
  const below = at.bottom + glance.offsetHeight + 8 < window.innerHeight;
  glance.style.left = `${Math.max(16, left)}px`;
  glance.style.top = `${below ? at.bottom + 4 : at.top - glance.offsetHeight - 4}px`;
}

const hideGlance = () => (glance.hidden = true);
for (const kind of ["mouseover", "focusin"]) document.addEventListener(kind, showGlance);
for (const kind of ["mouseout", "focusout", "click"]) document.addEventListener(kind, hideGlance);
window.addEventListener("scroll", hideGlance, { passive: true });

function close() {
  panel().replaceChildren();
  panel().parentElement.classList.remove("panel-open");
  if (!opener) return;
  const same = `.cite a[href="${opener.getAttribute("href")}"]`;
  (opener.isConnected ? opener : document.querySelector(same))?.focus({ preventScroll: true });
}
