// Faults that the settlement sandbox simulates with one click, with labels instead of field names.

const ORDERS = "/v1/offramp/orders";

export const FAULTS = [
  { id: "down", label: "Service down", about: "Every call gets a 503 until cleared.", fault: { fault: "503" } },
  { id: "lost-before", label: "No answer", about: "The next order isn’t created, and the connection drops.", fault: { fault: "drop_before", method: "POST", path: ORDERS, times: 1 } },
  { id: "lost-after", label: "No answer, but created", about: "The next order is created, but the connection drops.", fault: { fault: "drop_after", method: "POST", path: ORDERS, times: 1 } },
  { id: "error-after", label: "500, but created", about: "The next order is created, but the answer is an error.", fault: { fault: "500_after", method: "POST", path: ORDERS, times: 1 } },
  { id: "html", label: "HTML answer", about: "The next order is answered with a web page.", fault: { fault: "html", method: "POST", path: ORDERS, times: 1 } },
  { id: "empty", label: "Empty list", about: "The list of orders is empty until cleared.", fault: { fault: "empty_list", method: "GET", path: ORDERS } },
  { id: "busy", label: "Too many calls", about: "The next three calls get a 429 (try again in 5 s).", fault: { fault: "429", times: 3, retryAfter: 5 } },
  { id: "slow", label: "Slow", about: "Every call takes 3 s longer until cleared.", fault: { fault: "delay", seconds: 3 } },
];

const COMPARED = ["fault", "method", "path", "retryAfter"];

export function isArmed(fault, armed) {
  return armed.some((one) => one.times !== 0 && COMPARED.every((name) => (fault[name] ?? null) === (one[name] ?? null)));
}
