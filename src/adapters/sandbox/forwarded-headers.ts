import type { IncomingMessage } from "node:http";

/** What is meant for the next in the line only. */
const FOR_THE_NEXT = [
  "connection",
  "expect",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "upgrade",
];

/** Without these nobody knows where a message ends. */
const FRAMES: ReadonlySet<string> = new Set(["content-length", "transfer-encoding"]);

/** The headers that a proxy hands on, names and values in turn, with its own put in their place. */
export function forwardedHeaders(
  { rawHeaders, headers }: Pick<IncomingMessage, "rawHeaders" | "headers">,
  own: Readonly<Record<string, string>> = {},
): string[] {
  const named = (headers.connection ?? "")
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((name) => !FRAMES.has(name));
  const dropped = new Set([...FOR_THE_NEXT, ...Object.keys(own).map((name) => name.toLowerCase()), ...named]);
  const kept = rawHeaders.flatMap((name, index) =>
    index % 2 === 0 && !dropped.has(name.toLowerCase()) ? [name, rawHeaders[index + 1] ?? ""] : [],
  );
  return [...kept, ...Object.entries(own).flat(), "Connection", "close"];
}
