// Questions to the server while something moves.

/** The status of a question whose place in the server's line another page of the workspace took. */
const superseded = 204;

/** Milliseconds until a page asks once more for what was coarser than asked, as many were asking, or not answered: each time twice as many, up to the last. */
const quieter = [2000, 32000];

/** Why a question was ended to which there is an answer already. */
const come = "It has come otherwise.";

/** What a refusal that passes means, by its status. */
const refusals = { 429: "Too many requests from here", 502: "The server cannot be reached", 503: "The server is busy", 504: "The server is busy" };

/** Says why there is no answer where the same question may have one later, and in how many milliseconds, if the server said so. */
export class Later extends Error {
  constructor(message, wait) {
    super(message);
    this.wait = wait;
  }
}

/** The answer to a question, which may be a refusal of such a status; a Later where there may be one later. */
export async function answer(url, options, refusal = []) {
  let response;
  try {
    response = await fetch(url, options);
  } catch (error) {
    throw error.name === "AbortError" ? error : new Later("The server cannot be reached");
  }
  if (response.status in refusals) throw new Later(refusals[response.status], 1000 * parseInt(response.headers.get("Retry-After"), 10));
  if (!response.ok && !refusal.includes(response.status)) throw new Error(`The server answered ${response.status}.`);
  return response;
}

/**
 * One question is under way at a time and one waits, the newest. Every answer is
 * shown: what is a little old while something moves is better than nothing.
 */
export class Live {
  /**
   * @param {string} url where questions are posted
   * @param {(coarse: boolean) => URLSearchParams} body makes a question
   * @param {(reply: object) => Promise<string | void>} receive shows an answer; returns what the status says then
   * @param {Element} area what is busy meanwhile
   * @param {Element} status where it says so
   */
  constructor(url, body, receive, area, status, word = "Working…") {
    Object.assign(this, { url, body, receive, area, status, word });
    this.running = this.next = this.again = null;
    [this.pause] = quieter;
  }

  ask(coarse) {
    [this.pause] = quieter;
    this.put(coarse);
  }

  put(coarse) {
    clearTimeout(this.again);
    this.next = { coarse };
    if (!this.running) this.send();
  }

  /** Asks no more: what was asked for has come otherwise. */
  drop() {
    clearTimeout(this.again);
    this.next = null;
    this.running?.abort(new DOMException(come, "AbortError"));
  }

  get idle() {
    return !this.running && !this.next;
  }

  async send() {
    const { coarse } = this.next;
    this.next = null;
    this.area.dataset.asking = ""; // until the answer to the last question is shown
    this.running = new AbortController();
    const { signal } = this.running;
    const busy = setTimeout(() => this.working(), 300);
    try {
      const response = await answer(this.url, { method: "POST", body: this.body(coarse), signal });
      if (response.status === superseded) {
        await new Promise((resolve) => setTimeout(resolve, 1000));
        signal.throwIfAborted();
        this.next ??= { coarse };
      } else {
        const reply = await response.json();
        if (reply.motion && this.next?.coarse) { // the next question leaves before this answer is painted
          clearTimeout(busy);
          this.send();
          await this.receive(reply);
          return;
        }
        const said = await this.receive(reply);
        if (!this.next) this.status.textContent = said ?? reply.coarser ?? "";
        if (!this.next && reply.coarser && !coarse) this.later(coarse, this.pause);
      }
    } catch (error) {
      if (error instanceof Later) {
        const wait = Math.min(error.wait || this.pause, 60000);
        this.status.textContent = `${error.message}: asking again in ${Math.ceil(wait / 1000)} s.`;
        this.later(coarse, wait * (1 + Math.random() / 4)); // not all who wait at once
      } else this.status.textContent = error.name !== "AbortError" ? `No answer: ${error.message}` : error.message === come ? "" : "Cancelled.";
    } finally {
      clearTimeout(busy);
      if (this.running?.signal !== signal) return;
      this.running = null;
      if (this.next) {
        clearTimeout(this.again);
        this.send();
      } else {
        this.area.setAttribute("aria-busy", "false");
        delete this.area.dataset.asking;
      }
    }
  }

  /** Asks again after so many milliseconds, unless something else is asked before. */
  later(coarse, wait) {
    this.again = setTimeout(() => this.put(coarse), wait);
    this.pause = Math.min(2 * this.pause, quieter[1]);
  }

  /** Says that it works and offers to stop. */
  working() {
    this.area.setAttribute("aria-busy", "true");
    if (this.status.querySelector("button")) return;
    const stop = document.createElement("button");
    stop.type = "button";
    stop.textContent = "Cancel";
    stop.addEventListener("click", () => {
      this.next = null;
      this.running?.abort();
    });
    this.status.replaceChildren(this.word, stop);
  }
}

/** Milliseconds until a page listens again to a stream that was refused. */
const relisten = 5000;

/**
 * Follows a stream of events while the page is looked at, for browsers have few connections to a
 * server. A stream begins with how things are: a page that slept, had no network or was refused
 * misses nothing that still holds.
 * @param {string} url of the stream
 * @param {string} event its name
 * @param {(data: any) => Promise<void> | void} receive takes its data; where it fails the stream begins anew
 * @returns {() => void} ends it
 */
export function follow(url, event, receive) {
  let stream, again, ended = false;
  const listen = () => {
    clearTimeout(again);
    stream?.close();
    if (document.hidden || ended) return;
    const opened = (stream = new EventSource(url));
    const anew = () => {
      if (stream !== opened) return;
      clearTimeout(again);
      again = setTimeout(listen, relisten * (1 + Math.random() / 2)); // not all who wait at once
    };
    opened.addEventListener("error", () => opened.readyState === EventSource.CLOSED && anew());
    opened.addEventListener(event, async (e) => {
      try {
        await receive(JSON.parse(e.data));
      } catch {
        anew();
      }
    });
  };
  document.addEventListener("visibilitychange", listen);
  addEventListener("online", listen);
  listen();
  return () => {
    ended = true;
    listen();
  };
}

/** Turns HTML into nodes whose pictures are ready to be shown, but for those that wait until somebody looks. */
export async function fragment(html) {
  const fresh = document.createElement("template");
  fresh.innerHTML = html;
  const images = [...fresh.content.querySelectorAll('img:not([loading="lazy"])')];
  await Promise.all(images.map((i) => i.decode().catch(() => {})));
  images.forEach((i) => i.removeAttribute("loading"));
  return fresh.content;
}
