/* The time zone of a first schedule is the browser's; without, it is the installation's. */
"use strict";

(() => {
  const zone = document.querySelector("select[data-guess]");
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const wasChosen = zone?.closest("form").querySelector("[aria-invalid]");
  if (zone && !wasChosen && [...zone.options].some((option) => option.value === own)) zone.value = own;
})();
