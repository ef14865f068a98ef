/* A test of the setup takes from seconds to a minute: its button says so. The forms work without. */
"use strict";

for (const button of document.querySelectorAll("button[data-wait]")) {
  const told = document.createElement("span");
  told.setAttribute("role", "status");
  told.className = "faint";
  button.after(told);
  button.form.addEventListener("submit", (event) => {
    if (button.ariaBusy === "true") event.preventDefault();
    if (event.submitter !== button) return;
    button.ariaBusy = "true";
    told.textContent = button.dataset.wait;
  });
  addEventListener("pageshow", () => {
    button.ariaBusy = "false";
    told.textContent = "";
  });
}
