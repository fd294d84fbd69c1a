// Shows times in the reader's time zone; without JavaScript they are in UTC.

/** Localises the times in a part of the page. */
export function tell(root) {
  for (const time of root.querySelectorAll("time[datetime]")) {
    time.title ||= time.textContent;
    time.textContent = new Date(time.dateTime).toLocaleString("en-GB", {
      day: "numeric",
      month: "short",
      year: "short" in time.dataset ? undefined : "numeric",
      hour: "2-digit",
      minute: "2-digit",
      timeZoneName: "short",
    });
  }
}

tell(document);
