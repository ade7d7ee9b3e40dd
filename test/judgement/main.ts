// `npm run judgement [PART]`: judges every labelled case with the built program, without and with a second reader, and
// prints what was judged wrongly and the shares. PART limits it to cases whose id or class contains it.
//   --reader none|truthful   only without, or only with a second reader
//   --record                 keeps the figures in docs/proof/figures
import { parseArgs } from "node:util";
import { recordFigures } from "../../scripts/record-figures.ts";
import type { JudgementCase } from "./case.ts";
import { HONEST } from "./honest.ts";
import { judgeCase, type Judged, type Reader } from "./judge-case.ts";
import { LIES } from "./lies.ts";

const AT_ONCE = 3;
const READERS: readonly Reader[] = ["none", "truthful"];
const { values, positionals } = parseArgs({
  options: { reader: { type: "string" }, record: { type: "boolean", default: false } },
  allowPositionals: true,
});
const part = positionals[0] ?? "";
const TALKED_ROUND = "accepted_when_every_concern_is_answered";
const figures: Record<string, number | string> = {};

for (const reader of READERS.filter((one) => values.reader === undefined || one === values.reader)) {
  await report("honest", HONEST, reader);
  await report("lies", LIES, reader);
}
if (values.record) console.log(`written: ${recordFigures("judgement", "npm run judgement", figures)}`);

async function report(kind: "honest" | "lies", all: readonly JudgementCase[], reader: Reader): Promise<void> {
  const cases = all.filter((one) => one.id.includes(part) || one.class.includes(part));
  const queue = [...cases];
  const shares = new Map<string, number>();
  const work = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const judged = await judgeCase(next, kind === "honest", reader);
      const result = resultOf(kind, judged);
      shares.set(result, (shares.get(result) ?? 0) + 1);
      if (kind === "lies" && judged.first === "challenged" && (await isTalkedRound(next, reader)))
        shares.set(TALKED_ROUND, (shares.get(TALKED_ROUND) ?? 0) + 1);
      if ((result === "accepted") !== (kind === "honest"))
        console.log(`${kind}/${reader} ${next.id} (${next.class}): ${result}: ${why(judged)}`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  const name = `${kind}_${reader === "none" ? "without_reader" : "with_reader"}`;
  const percent = (count: number): string => `${((100 * count) / cases.length).toFixed(1)} %`;
  figures[`${name}_cases`] = cases.length;
  for (const [result, count] of shares) figures[`${name}_${result}`] = `${count} (${percent(count)})`;
  const words = [...shares].map(([result, count]) => `${result} ${count} (${percent(count)})`);
  console.log(`== ${kind}, reader ${reader}: ${cases.length} cases: ${words.join(", ")}\n`);
}

/** Whether a liar is accepted that gives every concern an answer, as true as its claim. */
async function isTalkedRound(given: JudgementCase, reader: Reader): Promise<boolean> {
  return (await judgeCase(given, false, reader, "answers every concern")).end === "accepted";
}

/** The first claim counts for an honest agent, the end for a liar. */
function resultOf(kind: "honest" | "lies", { first, end }: Judged): string {
  return kind === "honest" && first !== "decide" ? first : end;
}

function why({ reasons, first, stderr }: Judged): string {
  return `${reasons.join("; ")}${first === "none" ? stderr : ""}`;
}
