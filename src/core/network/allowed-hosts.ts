/** One entry of the list of hosts that an agent may reach. */
export interface AllowedHost {
  /** In small letters. Of a pattern: what the name must end in, from its dot on. */
  readonly host: string;
  readonly isPattern: boolean;
  /** Null: those of http and https. */
  readonly port: number | null;
}

/** Whom somebody wants to reach. */
export interface Target {
  readonly host: string;
  readonly port: number;
}

const USUAL_PORTS: readonly number[] = [80, 443];
/** Below it, only a machine's administrator may listen. */
const FREE_PORTS = 1_024;
const PORT_MAX = 65_535;
const NAME = /^(?=.{1,253}$)[a-z\d_](?:[a-z\d_-]{0,61}[a-z\d_])?(?:\.[a-z\d_](?:[a-z\d_-]{0,61}[a-z\d_])?)*$/;
/** Programs take a name that ends like this for an address in an odd spelling. */
const ODD_ADDRESS = /(?:^|\.)(?:\d+|0x[\da-f]*)$/;

/** An entry as it was written; a text says what is wrong with it. */
export function readAllowedHost(text: string): AllowedHost | string {
  if (text.includes("/")) return 'expected a host alone, such as "api.example.com": no "https://", no path';
  if (/^\*(?::|$)/.test(text)) return 'for all hosts write network = "on" instead of a list';
  const isPattern = text.startsWith("*.");
  const parts = splitPort(isPattern ? text.slice(2) : text);
  if (parts === null)
    return 'expected a host, perhaps with a port: "api.example.com", "*.example.com", "10.0.0.5:5432", "[fd00::1]:80"';
  const { port } = parts;
  const host = hostOf(parts.host);
  if (host === null || (isPattern && addressOf(host) !== null))
    return `${JSON.stringify(parts.host)} is no name of a host${isPattern ? "" : ", and no address"}`;
  if (port !== null && !isPort(port)) return `the port must be from 1 to ${PORT_MAX}`;
  if (/^0\.|^(?:0:){7}0$/.test(host)) return "nobody has that address; for this machine write 127.0.0.1";
  if (isLoopback(host) && (isPattern || port === null || port < FREE_PORTS))
    return `of this machine itself name each port, from ${FREE_PORTS} on: "127.0.0.1:8080"`;
  return { host: isPattern ? `.${host}` : host, isPattern, port };
}

/** Name or address and port, as they stand in a request; null when they make no sense. */
export function readTarget(authority: string, usualPort: number | null): Target | null {
  const parts = splitPort(authority);
  const host = parts === null ? null : hostOf(parts.host);
  const port = parts?.port ?? usualPort;
  return host === null || port === null || !isPort(port) ? null : { host, port };
}

export function writeTarget({ host, port }: Target): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}

/** How the list has it: by its own name or address, by a pattern only, or not at all. */
export function allowance(
  { host, port }: Target,
  list: readonly AllowedHost[],
): "named" | "by-pattern" | "none" {
  const fitting = list.filter(
    (entry) =>
      (entry.port === null ? USUAL_PORTS.includes(port) : entry.port === port) &&
      (entry.isPattern ? host.endsWith(entry.host) : host === entry.host),
  );
  if (fitting.length === 0) return "none";
  return fitting.some(({ isPattern }) => !isPattern) ? "named" : "by-pattern";
}

function splitPort(text: string): { readonly host: string; readonly port: number | null } | null {
  const [, inBrackets, plain, port] = /^(?:\[([^\][]*)\]|([^\][:]*))(?::(\d{1,5}))?$/.exec(text) ?? [];
  const host = inBrackets ?? plain;
  if (host === undefined || host === "" || (inBrackets !== undefined && !inBrackets.includes(":")))
    return null;
  return { host, port: port === undefined ? null : Number(port) };
}

function hostOf(text: string): string | null {
  const address = addressOf(text);
  if (address !== null) return address;
  const name = text.toLowerCase().replace(/\.$/, "");
  return NAME.test(name) && !ODD_ADDRESS.test(name) ? name : null;
}

function isPort(port: number): boolean {
  return port >= 1 && port <= PORT_MAX;
}

/** An address in its one usual form, so that two of them can be compared; null when the text is none. */
export function addressOf(text: string): string | null {
  if (isIpv4(text)) return text;
  const groups = groupsOf(text);
  if (groups === null) return null;
  const [high = 0, low = 0] = groups.slice(-2);
  if (groups.slice(0, -2).join() === "0,0,0,0,0,65535")
    return [high >> 8, high & 255, low >> 8, low & 255].join(".");
  return groups.map((group) => group.toString(16)).join(":");
}

/** Whether this name or address is always the machine itself, whoever asks. */
export function isLoopback(host: string): boolean {
  return /^127\.|^(?:0:){7}1$|^(?:.+\.)?localhost$/.test(host);
}

function isIpv4(text: string): boolean {
  const numbers = /^(?:0|[1-9]\d{0,2})(?:\.(?:0|[1-9]\d{0,2})){3}$/.test(text) ? text.split(".") : [];
  return numbers.length === 4 && numbers.every((number) => Number(number) <= 255);
}

const GROUPS = 8;

/** The eight numbers of an IPv6 address. */
function groupsOf(text: string): readonly number[] | null {
  const end = /(?<=:)[\d.]+$/.exec(text)?.[0] ?? "";
  if (end.includes(".") && !isIpv4(end)) return null;
  const [a = 0, b = 0, c = 0, d = 0] = end.split(".").map(Number);
  const tail = `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
  const plain = end.includes(".") ? `${text.slice(0, -end.length)}${tail}` : text;
  const halves = plain.split("::").map((half) => (half === "" ? [] : half.split(":")));
  const [left = [], right = []] = halves;
  const missing = GROUPS - left.length - right.length;
  if (halves.length > 2 || (halves.length === 2 ? missing < 1 : missing !== 0)) return null;
  const all = [...left, ...Array.from({ length: missing }, () => "0"), ...right];
  return all.every((group) => /^[\da-f]{1,4}$/i.test(group)) ? all.map((group) => parseInt(group, 16)) : null;
}
