import type { Syntax } from "./mask-source.ts";
import { openSource, skipSpace, type Source } from "./source.ts";

/** Settings of a configuration file: what is set, by the dotted path of its keys. */
export type Settings = ReadonlyMap<string, readonly string[]>;

/** Reads what a configuration file sets, without running it; in linear time. */
export function readSettings(path: string, text: string): Settings {
  if (/\.xml(?:\.dist)?$/.test(path)) return readMarkup(path, text);
  if (/\.(?:ini|cfg)$|\.coveragerc$/.test(path)) return readSections(text);
  if (/\.ya?ml$/.test(path) || (path.endsWith("rc") && !text.trimStart().startsWith("{")))
    return readIndented(text);
  const isScript = /\.gradle(?:\.kts)?$/.test(path);
  const endsAtLine = isScript || /\.(?:toml|py)$/.test(path);
  const syntax = endsAtLine && !isScript ? HASH : SLASHES;
  return readBracketed(openSource(text, syntax), {
    endsAtLine,
    isScript,
    hasSections: path.endsWith(".toml"),
  });
}

const quoted = (quote: string, spansLines = false): Syntax["strings"][number] => ({
  open: quote,
  close: quote,
  escapes: true,
  spansLines,
});
const HASH: Syntax = {
  lineComments: ["#"],
  blockComments: [],
  strings: [quoted('"""', true), quoted("'''", true), quoted('"'), quoted("'")],
};
const SLASHES: Syntax = {
  lineComments: ["//"],
  blockComments: [{ open: "/*", close: "*/" }],
  strings: [quoted('"'), quoted("'"), quoted("`", true)],
  hasRegexes: true,
};

const PATH_LENGTH_MAX = 300;

/** More values of one setting than anybody compares. */
const VALUES_MAX = 1_000;

class Collected {
  readonly settings = new Map<string, string[]>();

  add(path: string, values: readonly string[]): void {
    const list = this.settings.get(path) ?? [];
    for (const value of values.slice(0, VALUES_MAX - list.length)) list.push(value);
    this.settings.set(path, list);
  }
}

const join = (path: string, key: string): string =>
  (path === "" || key === "" ? path + key : `${path}.${key}`).slice(0, PATH_LENGTH_MAX);

interface Style {
  readonly endsAtLine: boolean;
  /** `key {` and `key "value"` are settings too. */
  readonly isScript: boolean;
  readonly hasSections: boolean;
}

const TOKEN = /[\w$.@-]{1,200}|["`{}[\],\n]/g;

/** JavaScript, JSON, TOML, Python, Gradle. */
function readBracketed(source: Source, style: Style): Settings {
  const found = new Collected();
  const paths: string[] = [""];
  let [key, behind] = ["", 0];
  for (const { 0: token, index } of source.code.matchAll(TOKEN)) {
    if (index < behind) continue;
    const around = paths.at(-1) ?? "";
    if (token === "{" || token === "[") {
      const close = source.closeOf[index] ?? -1;
      if (style.hasSections && paths.length === 1 && key === "" && close !== -1) {
        paths[0] = source.text
          .slice(index, Math.min(close, index + PATH_LENGTH_MAX))
          .replaceAll(/[[\]"\s]/g, "");
        behind = close + 1;
      } else paths.push(join(around, key));
      key = "";
    } else if (token === "}" || token === "]") {
      if (paths.length > 1) paths.pop();
      key = "";
    } else if (token === ",") key = "";
    else if (token === "\n") key = style.endsAtLine ? "" : key;
    else {
      const string = source.strings.get(index);
      if (string === undefined && /["`]/.test(token)) continue;
      const [words, end] =
        string === undefined
          ? [token, index + token.length]
          : [source.text.slice(string.from, string.to), string.end];
      behind = end;
      if (isKey(source.code, end, string === undefined && style.isScript)) key = words;
      else found.add(join(around, key), [words]);
    }
  }
  return found.settings;
}

function isKey(code: string, end: number, isScript: boolean): boolean {
  const at = skipSpace(code, end);
  const next = code.slice(at, at + 2);
  if (isScript && /^["{(]/.test(next)) return true;
  return /^:|^=(?![=>])|^\+=/.test(next) && !next.startsWith("::");
}

/** INI files: a value goes on in the lines that are indented. */
function readSections(text: string): Settings {
  const found = new Collected();
  let [section, path] = ["", ""];
  for (const line of text.split("\n")) {
    if (/^\s*[#;]/.test(line)) continue;
    const [, name] = /^\[([^\]]{1,100})\]/.exec(line) ?? [];
    const [, key, value = ""] = /^([\w.-]{1,80})\s{0,9}[=:](.*)$/.exec(line) ?? [];
    if (name !== undefined) [section, path] = [name, name];
    else if (key !== undefined) path = join(section, key);
    found.add(path, wordsOf(key === undefined ? line : value));
  }
  return found.settings;
}

/** YAML, as far as settings of test runners go. */
function readIndented(text: string): Settings {
  const found = new Collected();
  const open: { indent: number; path: string }[] = [];
  for (const line of text.split("\n")) {
    const [, spaces = "", key, value = ""] =
      /^([ -]{0,100})(?:["']?([\w./-]{1,80})["']?:(?=\s|$))?(.*)$/.exec(line) ?? [];
    const content = value.replace(/(?:^|\s)#.*$/, "").trim();
    if (key === undefined && content === "") continue;
    const indent = key === undefined ? Infinity : spaces.length;
    while ((open.at(-1)?.indent ?? -1) >= indent) open.pop();
    const path = join(open.at(-1)?.path ?? "", key ?? "");
    if (key !== undefined) open.push({ indent, path });
    found.add(path, wordsOf(content));
  }
  return found.settings;
}

function wordsOf(value: string): readonly string[] {
  return value.split(/[\s,[\]"']+/).filter((word) => word !== "");
}

const PARTS = {
  pom: { open: "<plugin>", close: "</plugin>", of: /maven-(?:surefire|failsafe)-plugin/ },
  phpunit: { open: "<testsuites>", close: "</testsuites>", of: /^/ },
} as const;

/** Only the parts of an XML file that say which tests run. */
function readMarkup(path: string, text: string): Settings {
  const found = new Collected();
  const { open, close, of } = path.endsWith("pom.xml") ? PARTS.pom : PARTS.phpunit;
  const code = text
    .split("<!--")
    .map((part, index) => (index === 0 ? part : part.slice(part.indexOf("-->") + 3)))
    .join("");
  for (const [, tag = "", value = ""] of code.matchAll(/<(skipTests|maven\.test\.skip)>([^<]{1,40})</g))
    found.add(tag, [value.trim()]);
  for (const part of code.split(open).slice(1)) {
    const inside = part.split(close, 1)[0] ?? "";
    if (!of.test(inside)) continue;
    for (const [, tag = "", value = ""] of inside.matchAll(
      /<([\w.-]{1,60})(?:\s[^<>]{0,200})?>([^<]{1,300})</g,
    ))
      if (value.trim() !== "") found.add(tag, [value.trim()]);
  }
  return found.settings;
}
