import { escapeHtml } from "./html.ts";

/** What is worth a colour in a language: the first pattern that matches at a place wins. */
type Grammar = readonly (readonly [kind: string, pattern: RegExp])[];

const STRING = /"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'/y;
const HASH_COMMENT = /(?<=^|\s)#[^\n]*/y;
const NUMBER = /\b\d[\d_.]*\b/y;

const SHELL: Grammar = [
  ["comment", HASH_COMMENT],
  ["string", STRING],
  ["flag", /(?<=\s)--?[a-zA-Z][\w-]*/y],
  ["name", /(?<=^|\n|&& |; |\| )(?:\.\/bin\/)?[a-z][\w-]*/y],
];
const TOML: Grammar = [
  ["comment", HASH_COMMENT],
  ["name", /(?<=^|\n)\[\[?[^\]\n]*\]\]?/y],
  ["string", STRING],
  ["keyword", /\b(?:true|false)\b/y],
  ["number", NUMBER],
];
const SCRIPT: Grammar = [
  ["comment", /\/\/[^\n]*|\/\*[\s\S]*?\*\//y],
  ["string", /"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`/y],
  [
    "keyword",
    /\b(?:async|await|break|const|else|export|extends|false|for|from|function|if|import|in|interface|let|new|null|of|readonly|return|string|number|boolean|true|type|undefined|unknown|void)\b/y,
  ],
  ["number", NUMBER],
];
const JSON_TEXT: Grammar = [
  ["name", /"(?:[^"\\\n]|\\.)*"(?=\s*:)/y],
  ["string", STRING],
  ["keyword", /\b(?:true|false|null)\b/y],
  ["number", NUMBER],
];

const GRAMMARS: Readonly<Record<string, Grammar>> = {
  sh: SHELL,
  console: SHELL,
  toml: TOML,
  ts: SCRIPT,
  js: SCRIPT,
  json: JSON_TEXT,
};

/** The text as HTML, with a span around each thing that has a colour. */
export function highlight(text: string, language: string): string {
  const grammar = GRAMMARS[language];
  if (grammar === undefined) return escapeHtml(text);
  return language === "console" ? consoleLines(text) : coloured(text, grammar);
}

/** What is typed stands out, what is printed does not. */
function consoleLines(text: string): string {
  const line = (one: string): string =>
    one.startsWith("$ ")
      ? `<span class="h-prompt">$ </span>${coloured(one.slice(2), SHELL)}`
      : `<span class="h-output">${withSigns(escapeHtml(one))}</span>`;
  return text.split("\n").map(line).join("\n");
}

/** The signs of verdicts have the colours that a terminal gives them. */
function withSigns(output: string): string {
  return output
    .replace(/✔ ?\w*/, '<span class="h-string">$&</span>')
    .replace(/[✗■] ?\w*/, '<span class="h-flag">$&</span>');
}

function coloured(text: string, grammar: Grammar): string {
  let html = "";
  let plainFrom = 0;
  for (let at = 0; at < text.length;) {
    const [kind, length] = matchAt(text, at, grammar);
    if (length === 0) {
      at += 1;
      continue;
    }
    html += `${escapeHtml(text.slice(plainFrom, at))}<span class="h-${kind}">${escapeHtml(text.slice(at, at + length))}</span>`;
    at += length;
    plainFrom = at;
  }
  return html + escapeHtml(text.slice(plainFrom));
}

function matchAt(text: string, at: number, grammar: Grammar): readonly [kind: string, length: number] {
  for (const [kind, pattern] of grammar) {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (match !== null && match[0] !== "") return [kind, match[0].length];
  }
  return ["", 0];
}
