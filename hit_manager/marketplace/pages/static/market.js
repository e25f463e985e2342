// Niceties of the marketplace's pages; everything works without them.

const minute = 60;

/** 754 as "12:34", 4000 as "1:06:40". */
function clock(seconds) {
  const two = (n) => String(n).padStart(2, "0");
  const [h, m, s] = [Math.floor(seconds / 3600), Math.floor(seconds / minute) % minute, seconds % minute];
  return h ? `${h}:${two(m)}:${two(s)}` : `${m}:${two(s)}`;
}

/** Times of day are written in UTC; here they become those of the reader, whose zone is named. */
function localTimes() {
  const format = new Intl.DateTimeFormat(undefined, {
    year: "numeric",
    month: "short",
    day: "numeric",
    hour: "numeric",
    minute: "2-digit",
    timeZoneName: "short",
  });
  for (const each of document.querySelectorAll("time[datetime]")) {
    each.textContent = format.format(new Date(each.dateTime));
  }
}

/** Counts down. `data-left` is what was left when the page was made, so that no clock of the
 * reader's matters; the words for screen readers change only when there is something to say. */
function countDown(timer) {
  const shown = timer.querySelector("b");
  const spoken = document.getElementById("timer-spoken");
  const over = document.getElementById("timer-over");
  const end = performance.now() + Number(timer.dataset.left) * 1000;
  let said = Infinity;

  function tick() {
    const left = Math.max(0, Math.round((end - performance.now()) / 1000));
    shown.textContent = clock(left);
    timer.classList.toggle("timer-low", left < 5 * minute);
    const mark = [0, minute, 5 * minute].find((each) => left <= each) ?? Infinity;
    if (spoken && mark < said && Number.isFinite(mark)) {
      spoken.textContent = { [minute]: "1 minute left", [5 * minute]: "5 minutes left" }[mark] ?? "";
    }
    said = Math.min(said, mark);
    if (left > 0) {
      setTimeout(tick, 1000);
    } else if (over) {
      over.hidden = false;
    }
  }
  tick();
}

/** Whoever submits in the frame moves on. What the frame says is a hint only: the page that is
 * gone to asks the server what became of the work. */
function followSubmission(frame) {
  addEventListener("message", (event) => {
    // A frame without an origin of its own says "null"; then it must be our own frame.
    const ours = event.origin === location.origin;
    const opaque = event.origin === "null" && event.source === frame.contentWindow;
    if ((ours || opaque) && event.data?.kind === "submitted" && event.data.assignmentId === frame.dataset.assignment) {
      location.assign(frame.dataset.done);
    }
  });
}

/** A choice that asks once closes on Escape, and the focus stays where it was. */
function closeOnEscape(details) {
  details.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && details.open) {
      details.open = false;
      details.querySelector("summary").focus();
    }
  });
}

/** What was said can be put away, and is then not said again when the page is loaded anew. */
function sayOnce(note) {
  const dismiss = note.querySelector("button");
  dismiss.hidden = false;
  dismiss.addEventListener("click", () => {
    const here = new URL(location.href);
    here.searchParams.delete("said");
    history.replaceState(history.state, "", here);
    note.remove();
    document.getElementById("main").focus();
  });
}

localTimes();
document.querySelectorAll("[data-said]").forEach(sayOnce);
document.querySelectorAll("[data-left]").forEach(countDown);
document.querySelectorAll("iframe[data-done]").forEach(followSubmission);
document.querySelectorAll("details").forEach(closeOnEscape);
