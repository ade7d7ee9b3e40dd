import { once } from "node:events";
import { createServer, request as ask, type IncomingMessage } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
import type { ModelServer } from "./start-model-server.ts";

/** The scripted model under a name that only this proxy knows. */
export interface NamedModel {
  readonly server: ModelServer;
  readonly host: string;
  readonly proxy: string;
  close(): Promise<void>;
}

export async function nameModel(server: ModelServer): Promise<NamedModel> {
  const host = "model.example.com";
  const { hostname, port: modelPort } = new URL(server.url);
  const proxy = createServer((request, response) => {
    const { pathname, search } = new URL(request.url ?? "");
    const onward = ask({
      hostname,
      port: modelPort,
      path: pathname + search,
      method: request.method,
      headers: request.headers,
    });
    onward.on("error", () => response.destroy());
    onward.on("response", (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.on("error", () => response.destroy()).pipe(response);
    });
    response.on("close", () => onward.destroy());
    request.pipe(onward);
  }).on("connect", (request: IncomingMessage, inside: Socket) => {
    if (request.url !== `${host}:80`) return void inside.end("HTTP/1.1 404 Nobody\r\n\r\n");
    const outside = connect(Number(modelPort), hostname);
    for (const [one, other] of [
      [inside, outside],
      [outside, inside],
    ] as const)
      one.on("error", () => other.destroy()).on("close", () => other.destroy());
    inside.write("HTTP/1.1 200 OK\r\n\r\n");
    inside.pipe(outside).pipe(inside);
  });
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  return {
    server: { ...server, url: `http://${host}` },
    host,
    proxy: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    async close() {
      const closed = once(proxy, "close");
      proxy.close();
      proxy.closeAllConnections();
      await closed;
    },
  };
}
