// Small words for writing repositories and shell scripts as data.

/** A text without the indentation of the code around it. Backslashes stay as they are, and → is a tab. */
export function text(strings: TemplateStringsArray, ...values: readonly string[]): string {
  const lines = String.raw(strings, ...values)
    .replace(/^\n/, "")
    .replace(/ *$/, "")
    .split("\n");
  const indents = lines.filter((line) => line.trim() !== "").map((line) => /^ */.exec(line)![0].length);
  const indent = Math.min(...indents);
  return lines
    .map((line) => line.slice(indent))
    .join("\n")
    .replaceAll("→", "\t");
}

/** One script of several parts. */
export function steps(...parts: readonly string[]): string {
  return parts.map((part) => part.replace(/\n*$/, "\n")).join("");
}

/** Writes a file, and its folder where that is missing. */
export function write(path: string, content: string): string {
  return `mkdir -p "$(dirname '${path}')"\ncat > '${path}' <<'END_OF_FILE'\n${content}END_OF_FILE\n`;
}

/** Adds lines at the end of a file. */
export function append(path: string, content: string): string {
  return `cat >> '${path}' <<'END_OF_FILE'\n${content}END_OF_FILE\n`;
}

/** Replaces the first occurrence of a text, and fails where there is none. */
export function edit(path: string, from: string, to: string): string {
  const pairs = `FROM=${quote(from)} TO=${quote(to)}`;
  return `${pairs} perl -0777 -pi -e 's/\\Q$ENV{FROM}\\E/$ENV{TO}/ or die "not found in $ARGV\\n"' '${path}'\n`;
}

/** Commits everything, on machines without a git identity too. */
export function commit(message: string): string {
  return `git add -A\ngit -c user.name=Agent -c user.email=agent@example.com commit -q -m ${quote(message)}\n`;
}

function quote(value: string): string {
  return `'${value.replaceAll("'", `'\\''`)}'`;
}
