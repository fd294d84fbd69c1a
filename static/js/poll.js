// A question to a class: on the phones of students, and with its histogram on the
// teacher's page.
import { fragment } from "./live.js";
import { sketches } from "./sketch.js";

const student = document.querySelector("[data-poll]");
if (student) {
  const path = student.dataset.poll;
  const part = () => student.querySelector("[data-poll-part]");
  const show = async (response) => {
    if (!response.ok) throw new Error(`The server answered ${response.status}.`);
    part().replaceWith(await fragment(await response.text()));
    sketches(part());
  };
  sketches(student);
  new EventSource(`${path}/events`).addEventListener("phase", (e) => {
    if (JSON.parse(e.data) !== part().dataset.state) fetch(`${path}?part=1`).then(show).catch(() => {});
  });
  student.addEventListener("submit", async (e) => {
    if (!e.target.matches("[data-vote]")) return; // a name is kept by a page of its own
    e.preventDefault();
    const body = new URLSearchParams(new FormData(e.target));
    body.set("part", "1");
    try {
      await show(await fetch(e.target.action, { method: "POST", body }));
      part().querySelector("button[type=submit]")?.focus();
    } catch {
      e.target.submit(); // the page itself says what is wrong
    }
  });
}

const results = document.querySelector("[data-results]");
if (results) {
  const buttons = results.querySelector("form[data-state]");
  new EventSource(results.dataset.results).addEventListener("answers", async (e) => {
    const news = JSON.parse(e.data);
    if (!news.html) return; // another question was asked
    if (news.state !== buttons.dataset.state) return location.reload();
    const old = results.querySelector("[data-results-part]");
    const fresh = await fragment(news.html);
    fresh.querySelector("details").open = old.querySelector("details").open;
    old.replaceWith(fresh);
  });
  buttons.addEventListener("submit", (e) => {
    const question = e.submitter?.dataset.confirm;
    if (question && !confirm(question)) e.preventDefault();
  });
}
