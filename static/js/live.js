// Questions to the server while something moves.

/**
 * One question is under way at a time. A newer one waits for a quick answer and
 * replaces a slow one, so that a moving slider neither starves nor lags.
 */
export class Live {
  /**
   * @param {string} url where questions are posted
   * @param {(coarse: boolean) => URLSearchParams} body makes a question
   * @param {(reply: object) => Promise<void>} receive shows an answer
   * @param {Element} area what is busy meanwhile
   * @param {Element} status where it says so
   */
  constructor(url, body, receive, area, status, word = "Working…") {
    Object.assign(this, { url, body, receive, area, status, word });
    this.running = this.next = null;
  }

  ask(coarse) {
    this.next = { coarse };
    if (!this.running) return this.send();
    if (performance.now() - this.running.since > 150) this.running.abort.abort();
  }

  get idle() {
    return !this.running && !this.next;
  }

  async send() {
    const { coarse } = this.next;
    this.next = null;
    this.area.dataset.asking = ""; // until the answer to the last question is shown
    const abort = new AbortController();
    this.running = { abort, since: performance.now() };
    const busy = setTimeout(() => this.working(abort), 300);
    try {
      const response = await fetch(this.url, { method: "POST", body: this.body(coarse), signal: abort.signal });
      if (!response.ok) throw new Error(`The server answered ${response.status}.`);
      await this.receive(await response.json());
      this.status.replaceChildren();
    } catch (error) {
      if (error.name !== "AbortError") this.status.textContent = `No answer: ${error.message}`;
      else if (!this.next) this.status.textContent = "Cancelled.";
    } finally {
      clearTimeout(busy);
      this.area.setAttribute("aria-busy", "false");
      this.running = null;
      if (this.next) this.send();
      else delete this.area.dataset.asking;
    }
  }

  /** Says that it works and offers to stop. */
  working(abort) {
    this.area.setAttribute("aria-busy", "true");
    const stop = document.createElement("button");
    stop.type = "button";
    stop.textContent = "Cancel";
    stop.addEventListener("click", () => abort.abort());
    this.status.replaceChildren(this.word, stop);
  }
}

/** Turns HTML into nodes whose pictures are ready to be shown. */
export async function fragment(html) {
  const fresh = document.createElement("template");
  fresh.innerHTML = html;
  const images = [...fresh.content.querySelectorAll("img")];
  await Promise.all(images.map((i) => i.decode().catch(() => {})));
  images.forEach((i) => i.removeAttribute("loading"));
  return fresh.content;
}
