export interface DiffLine {
  readonly is: "added" | "removed" | "same" | "place" | "note";
  readonly old: number | null;
  readonly new: number | null;
  readonly text: string;
}

const PLACE = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/;

export function diffLines(hunks: string): readonly DiffLine[] {
  let before = 0;
  let after = 0;
  return hunks
    .replace(/\n$/, "")
    .split("\n")
    .map((line): DiffLine => {
      const place = PLACE.exec(line);
      if (place !== null) {
        before = Number(place[1]);
        after = Number(place[2]);
        return { is: "place", old: null, new: null, text: line };
      }
      const text = line.slice(1);
      switch (line[0]) {
        case "+":
          return { is: "added", old: null, new: after++, text };
        case "-":
          return { is: "removed", old: before++, new: null, text };
        case "\\":
          return { is: "note", old: null, new: null, text };
        default:
          return { is: "same", old: before++, new: after++, text };
      }
    });
}
