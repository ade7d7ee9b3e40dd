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
