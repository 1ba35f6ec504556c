// The stream of chat events. EventSource reconnects automatically, but always to the address it was opened with.
// The stream must continue after the last event, so this module reconnects.

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 8000;

export class EventStream {
  constructor({ after, onEvent, onStatus }) {
    this.after = after;
    this.onEvent = onEvent;
    this.onStatus = onStatus;
    this.wait = FIRST_WAIT_MS;
  }

  open() {
    const source = new EventSource(`/sandbox/events?after=${this.after}`);
    source.onopen = () => {
      this.wait = FIRST_WAIT_MS;
      this.onStatus(true);
    };
    source.onmessage = (frame) => this.take(frame.data);
    source.onerror = () => {
      source.close();
      this.onStatus(false);
      setTimeout(() => this.open(), this.wait);
      this.wait = Math.min(this.wait * 2, LONGEST_WAIT_MS);
    };
  }

  take(data) {
    const event = JSON.parse(data);
    if (event.seq <= this.after) return;
    this.after = event.seq;
    this.onEvent(event);
  }
}
