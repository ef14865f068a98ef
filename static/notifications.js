/* The switch of messages in this browser; run.js reads it. */
"use strict";

(() => {
  const row = document.getElementById("browser");
  const works = "Notification" in window && !matchMedia("(pointer: coarse)").matches;

  function show() {
    let now = "missing";
    if (works) now = Notification.permission === "denied" ? "denied" : localStorage.getItem("tell") ? "on" : "off";
    for (const each of row.querySelectorAll("[data-when]")) each.hidden = each.dataset.when !== now;
  }

  row.addEventListener("click", async ({ target }) => {
    const button = target.closest("button");
    if (!button) return;
    if (button.matches("[data-test]")) new Notification(button.dataset.title, { body: button.dataset.text });
    else if (localStorage.getItem("tell")) localStorage.removeItem("tell");
    else if ((await Notification.requestPermission()) === "granted") localStorage.setItem("tell", "yes");
    show();
  });
  show();
})();
