// All calls to the sandbox: users act through /sandbox, the service is controlled through /service, the bot through /replicas.

export class ApiError extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

async function call(method, path, body) {
  const request = { method };
  if (body !== undefined) {
    request.headers = { "content-type": "application/json" };
    request.body = JSON.stringify(body);
  }
  let response;
  try {
    response = await fetch(path, request);
  } catch {
    throw new ApiError(0, "The sandbox isn’t answering. Is it still running?");
  }
  const answer = await response.json().catch(() => ({}));
  if (!response.ok) throw new ApiError(response.status, answer.error ?? answer.description ?? `Status ${response.status}`);
  return answer;
}

export const telegram = {
  state: () => call("GET", "/sandbox/state"),
  messages: (chatId, limit = 300) => call("GET", `/sandbox/chats/${chatId}/messages?limit=${limit}`),
  send: (chatId, message) => call("POST", `/sandbox/chats/${chatId}/send`, message),
  edit: (chatId, message) => call("POST", `/sandbox/chats/${chatId}/edit`, message),
  remove: (chatId, message) => call("POST", `/sandbox/chats/${chatId}/delete`, message),
  press: (chatId, press) => call("POST", `/sandbox/chats/${chatId}/press`, press),
  inline: (chatId, query) => call("POST", `/sandbox/chats/${chatId}/inline`, query),
  chooseInline: (chatId, chosen) => call("POST", `/sandbox/chats/${chatId}/choose`, chosen),
  changePerson: (personId, change) => call("PATCH", `/sandbox/people/${personId}`, change),
  paymentRequests: () => call("GET", "/sandbox/payment-requests"),
  limits: () => call("GET", "/sandbox/limits"),
  changeLimits: (limits) => call("POST", "/sandbox/limits", limits),
  fileUrl: (fileId) => `/sandbox/files/${encodeURIComponent(fileId)}`,
};

// The list has replicas only if the sandbox runs several processes of the bot. `alive` also has the number of a single one.
export const replicas = {
  list: () => call("GET", "/replicas"),
  act: (number, action) => call("POST", `/replicas/${number}/${action}`, {}),
};

export const service = {
  orders: () => call("GET", "/service/orders"),
  pay: (payment) => call("POST", "/service/pay", payment),
  expire: (orderId) => call("POST", "/service/expire", { orderId }),
  advance: (orderId) => call("POST", "/service/advance", { orderId }),
  // stage: a state that the order reaches before it fails. Without one it fails now.
  fail: (orderId, stage) => call("POST", "/service/fail", { orderId, stage }),
  settings: () => call("GET", "/service/settings"),
  change: (settings) => call("POST", "/service/settings", settings),
  faults: () => call("GET", "/service/faults"),
  addFault: (fault) => call("POST", "/service/faults", fault),
  removeFault: (id) => call("DELETE", "/service/faults", { id }),
  clearFaults: () => call("DELETE", "/service/faults"),
  methods: () => call("GET", "/service/methods"),
  // flush: the service caches its list for minutes, and the change must be visible at once.
  dropMethod: (bankCode) => call("DELETE", "/service/methods", { bankCode, flush: true }),
  restoreMethods: () => call("DELETE", "/service/methods", { flush: true }),
  orderOf: async (bolt11) => (await call("GET", `/service/orders?bolt11=${encodeURIComponent(bolt11)}`)).orders[0],
};
