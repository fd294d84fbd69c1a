// Requests to the server during a drag.

/** The status of a request superseded by another page of the same workspace. */
const superseded = 204;

/** Milliseconds before a request is repeated that was refused or answered coarsely under load: doubles each time, up to the last. */
const quieter = [2000, 32000];

/** The abort reason of a request that is already answered. */
const come = "already answered";

/** Messages for temporary refusals, by status. */
export const refusals = { 429: "Too many requests from here", 502: "The server cannot be reached", 503: "The server is busy", 504: "The server is busy" };

/** A temporary refusal: its reason and, if the server gave it, the delay in milliseconds before a retry. */
export class Later extends Error {
  constructor(message, wait) {
    super(message);
    this.wait = wait;
  }
}

/** Fetches an answer. Returns refusals listed in refusal, throws Later for temporary ones and an Error for others. */
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
 * Runs one request at a time; only the newest waits. Every answer is shown: during a drag a
 * slightly old picture beats none.
 */
export class Live {
  /**
   * @param {string} url that requests are posted to
   * @param {(coarse: boolean) => URLSearchParams} body builds a request
   * @param {(reply: object) => Promise<string | void>} receive shows an answer; returns the status text
   * @param {Element} area marked as busy meanwhile
   * @param {Element} status shows the status text
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

  /** Cancels pending requests, because the answer arrived by other means. */
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
    this.area.dataset.asking = ""; // until the last answer is shown
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
        if (reply.motion && this.next?.coarse) { // send the next request before painting this answer
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
        this.later(coarse, wait * (1 + Math.random() / 4)); // spread the retries of a whole class
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

  /** Repeats the request after a delay in milliseconds, unless another one comes first. */
  later(coarse, wait) {
    this.again = setTimeout(() => this.put(coarse), wait);
    this.pause = Math.min(2 * this.pause, quieter[1]);
  }

  /** Shows that work is in progress, with a Stop button. */
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

/** Milliseconds before reconnecting to a stream that was refused. */
const relisten = 5000;

/** Says that the page may be out of date, while no stream can be opened. */
const stale = Object.assign(document.createElement("p"), { className: "problem stale", role: "alert", textContent: "The server is not answering. This page updates when it does." });

/**
 * Follows an event stream while the page is visible, since browsers allow few connections per
 * server. Each stream starts with the current state, so a page that slept or was offline catches up.
 * @param {string} url of the stream
 * @param {Object<string, (data: any) => Promise<void> | void>} events handlers of data, by the name of the event; if one fails, the stream restarts
 * @returns {() => void} stops following
 */
export function follow(url, events) {
  let stream, again, heard = true;
  const ended = new AbortController(), { signal } = ended;
  const listen = () => {
    clearTimeout(again);
    stream?.close();
    if (document.hidden || signal.aborted) return;
    const opened = (stream = new EventSource(url));
    const anew = () => {
      if (stream !== opened) return;
      clearTimeout(again);
      again = setTimeout(listen, relisten * (1 + Math.random() / 2)); // spread the retries of a whole class
    };
    opened.addEventListener("open", () => {
      heard = true;
      stale.remove();
    });
    opened.addEventListener("error", () => {
      if (!heard) document.body.append(stale); // a stream that ends is opened again at once
      heard = false;
      if (opened.readyState === EventSource.CLOSED) anew();
    });
    for (const [event, receive] of Object.entries(events)) opened.addEventListener(event, async (e) => {
      try {
        await receive(JSON.parse(e.data));
      } catch (error) {
        anew();
        if (!(error instanceof Later)) throw error;
      }
    });
  };
  document.addEventListener("visibilitychange", listen, { signal });
  addEventListener("online", listen, { signal });
  listen();
  return () => {
    ended.abort();
    listen();
  };
}

/** Parses HTML into nodes and waits for their pictures to decode, except lazy ones. */
export async function fragment(html) {
  const fresh = document.createElement("template");
  fresh.innerHTML = html;
  const images = [...fresh.content.querySelectorAll('img:not([loading="lazy"])')];
  await Promise.all(images.map((i) => i.decode().catch(() => {})));
  images.forEach((i) => i.removeAttribute("loading"));
  return fresh.content;
}
