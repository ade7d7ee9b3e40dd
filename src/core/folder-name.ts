const FIRST_50 = /^.{0,50}/su;

/** A label as the name of a folder: letters, digits, dots and dashes. Null when nothing is left of it. */
export function folderName(label: string): string | null {
  const plain = label.normalize("NFC").replaceAll(/[^\p{L}\p{M}\p{N}._-]+/gu, "-");
  const name = withoutEdges(FIRST_50.exec(withoutEdges(plain))?.[0] ?? "");
  return name === "" ? null : name;
}

function withoutEdges(name: string): string {
  return name.replaceAll(/^[.-]+|[.-]+$/g, "");
}
