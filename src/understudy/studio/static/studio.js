// What a page cannot say by itself: the slider's number, a way back, and a file that is dropped in.
"use strict";

function follow(slider) {
  const stops = slider.dataset.stops.split(" ");
  const field = document.getElementById(slider.dataset.sets);
  slider.addEventListener("input", () => {
    field.value = String(Number(stops[slider.value]));
    slider.setAttribute("aria-valuetext", "epsilon " + field.value);
  });
  field.addEventListener("input", () => {
    const wanted = Math.log(Number(field.value));
    if (!Number.isFinite(wanted)) return;
    let nearest = 0;
    stops.forEach((stop, place) => {
      if (Math.abs(Math.log(stop) - wanted) < Math.abs(Math.log(stops[nearest]) - wanted)) nearest = place;
    });
    slider.value = nearest;
    slider.setAttribute("aria-valuetext", "epsilon " + field.value);
  });
}

function upload(form) {
  const field = form.querySelector("input[type=file]");
  const status = form.querySelector("[role=status]");
  form.hidden = false;
  field.addEventListener("change", async () => {
    const file = field.files[0];
    if (!file) return;
    status.textContent = "Copying " + file.name + " …";
    const answer = await fetch(form.dataset.upload, {
      method: "POST",
      body: file,
      headers: { "x-file-name": encodeURIComponent(file.name), "hx-request": "true" },
    });
    if (answer.redirected) window.location.assign(answer.url);
    else status.innerHTML = await answer.text(); // escaped where it was written
  });
}

for (const slider of document.querySelectorAll("[data-stops]")) follow(slider);
for (const form of document.querySelectorAll("[data-upload]")) upload(form);
for (const button of document.querySelectorAll("[data-back]")) {
  button.hidden = false;
  button.addEventListener("click", () => history.back());
}

// Once a run is done, go on to its result, unless the person is busy elsewhere on the page.
document.addEventListener("htmx:sseMessage", () => {
  const next = document.querySelector("#progress [data-next]");
  if (next) window.location.assign(next.href);
});
document.addEventListener("htmx:beforeRequest", (event) => event.detail.target.setAttribute("aria-busy", "true"));
document.addEventListener("htmx:afterRequest", (event) => event.detail.target.setAttribute("aria-busy", "false"));
