/* "Go back" on an error page returns to the form with what was typed. Its address works without. */
"use strict";

document.querySelector("[data-back]")?.addEventListener("click", (event) => {
  if (history.length < 2) return;
  event.preventDefault();
  history.back();
});
