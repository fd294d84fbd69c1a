// A live question: answered on students' phones, shown as a histogram on the teacher's page.
import { answer, follow, fragment, Later } from "./live.js";
import { points } from "./point.js";
import { sketches } from "./sketch.js";

const again = [2000, 16000]; // milliseconds before an answer is resent, doubling up to the second

const student = document.querySelector("[data-poll]");
if (student) {
  const path = student.dataset.poll;
  const part = () => student.querySelector("[data-poll-part]");
  const show = async (response) => {
    const fresh = await fragment(await response.text());
    stop();
    part().replaceWith(fresh);
    sketches(part());
    points(part());
  };
  let waiting, once, latest; // timer and function of a resend; the body sent last
  const stop = () => {
    clearTimeout(waiting);
    once = null;
  };
  for (const back of ["online", "visibilitychange"]) addEventListener(back, () => document.hidden || once?.());
  sketches(student);
  follow(`${path}/events`, { phase: async (phase) => {
    if (phase !== part().dataset.state) await show(await answer(`${path}?part=1`));
  } });

  /** Retries sending an answer until the server accepts or rejects it. */
  const send = async (form, body, pause) => {
    stop();
    latest = body;
    try {
      const said = await answer(form.action, { method: "POST", body }, [409, 422]);
      if (body !== latest) return; // superseded
      await show(said);
      part().querySelector("[role=alert]")?.scrollIntoView({ block: "nearest" });
      part().querySelector("button[type=submit]")?.focus();
    } catch (error) {
      if (body !== latest) return;
      if (!(error instanceof Later)) return form.submit(); // the page shows the error
      if (!form.isConnected) return; // the question has changed
      const wait = Math.max(error.wait || 0, pause);
      student.querySelector(".poll-status").textContent = `${error.message}. Your answer is not counted yet: stay here, it is sent again in ${Math.ceil(wait / 1000)} s.`;
      once = () => send(form, body, Math.min(2 * pause, again[1]));
      waiting = setTimeout(once, wait * (1 + Math.random() / 4));
    }
  };
  student.addEventListener("submit", (e) => {
    if (!e.target.matches("[data-vote]")) return; // the form of the name navigates
    e.preventDefault();
    const body = new URLSearchParams(new FormData(e.target));
    body.set("part", "1");
    send(e.target, body, again[0]);
  });
}

/**
 * Keeps the answers to a question up to date while they are shown.
 * @param {Element} results
 * @param {() => void} renew reloads the results when their buttons change
 * @returns {() => void} stops following
 */
export function tally(results, renew) {
  const { state } = results.querySelector("form[data-state]").dataset;
  results.addEventListener("submit", (e) => {
    const question = e.submitter?.dataset.confirm;
    if (question && !confirm(question)) e.preventDefault();
  });
  return follow(results.dataset.results, { answers: async (news) => {
    if (!news.html) return; // another question is open
    if (news.state !== state) return renew();
    const old = results.querySelector("[data-results-part]");
    const fresh = await fragment(news.html);
    const details = fresh.querySelector("details");
    if (details) details.open = old.querySelector("details")?.open ?? details.open;
    old.replaceWith(fresh);
  } });
}

const results = document.querySelector("[data-results]");
if (results) tally(results, () => location.reload());
