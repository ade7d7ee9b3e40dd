import { fieldsOf, isFields, textOf, type Fields } from "../../../core/report/streams/json-fields.ts";
import type { Write } from "../agent-adapter.ts";

export type Answer = { readonly is: "result"; readonly result: Fields } | { readonly is: "error" };

export type Reply = { readonly result: unknown } | { readonly error: { code: number; message: string } };

export interface JsonRpcPeer {
  /** Answers at once whether it could be written; `onAnswer` is called when the answer is there, if ever. */
  request(method: string, params: object, onAnswer: (answer: Answer) => void): Promise<boolean>;
  notify(method: string, params: object): Promise<boolean>;
  /** Takes a message of the other side, an answer or a request to reply to; of an answer it says to which method. */
  receive(message: Fields): string | null;
}

/** One side of JSON-RPC, a message a line. Everything happens within the call, nothing later. */
export function createJsonRpcPeer(
  write: Write,
  reply: (method: string, params: Fields) => Reply,
): JsonRpcPeer {
  const open = new Map<number, { readonly method: string; readonly onAnswer: (answer: Answer) => void }>();
  let last = 0;
  const send = (message: object): Promise<boolean> =>
    write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  return {
    request(method, params, onAnswer) {
      const id = ++last;
      open.set(id, { method, onAnswer });
      return send({ id, method, params });
    },
    notify: (method, params) => send({ method, params }),
    receive(message) {
      const { id } = message;
      const method = textOf(message["method"]);
      if (method !== null) {
        if (id !== undefined && id !== null) void send({ id, ...reply(method, fieldsOf(message["params"])) });
        return null;
      }
      const asked = typeof id === "number" ? open.get(id) : undefined;
      if (asked === undefined) return null;
      open.delete(Number(id));
      asked.onAnswer(answerOf(message));
      return asked.method;
    },
  };
}

function answerOf(message: Fields): Answer {
  const { error, result } = message;
  return isFields(error) ? { is: "error" } : { is: "result", result: fieldsOf(result) };
}
