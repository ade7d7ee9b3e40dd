import { z } from "zod";
import { RalphError } from "../core/ralph-error.ts";
import { lineOfPath, type ConfigText } from "./config-text.ts";
import { explainIssues, valueAt } from "./explain-issue.ts";
import type { Written } from "./find-config.ts";

const stage = z.strictObject({
  enabled: z.boolean().optional(),
  max_iterations: z.number().int().min(1).optional(),
  completion_promise: z.string().min(1).optional(),
});

/** The `ralph:` tree of a `config.yaml`. */
const tree = z.strictObject({
  enabled: z.boolean().optional(),
  default_max_iterations: z.number().int().min(1).optional(),
  verify_promises: z.boolean().optional(),
  coder: stage.optional(),
  reviewer: stage.optional(),
  tester: stage.optional(),
  qa: stage.optional(),
});

const OTHER_STAGES = ["reviewer", "tester", "qa"] as const;

/** What cannot be switched off yet, with what switching it off would mean. */
const ALWAYS_ON: readonly (readonly [path: readonly string[], meaning: string])[] = [
  [["ralph", "enabled"], "a single pass instead of a loop"],
  [["ralph", "coder", "enabled"], "a single pass instead of a loop"],
];

/** Takes from the tree what works with a single stage: the coder's. `strict` says that the whole file is ours. */
export async function readRalphTree(text: ConfigText, shown: string, strict: boolean): Promise<Written> {
  const file = strict
    ? z.strictObject({ ralph: tree.optional() })
    : z.looseObject({ ralph: tree.optional() });
  const parsed = file.safeParse(text.value ?? {});
  const complain = async (path: readonly PropertyKey[], what: string): Promise<RalphError> =>
    new RalphError("config", `${shown}:${lineOfPath(await text.places(), path)}: ${what}`);
  if (!parsed.success) {
    const checked = { schema: file, value: text.value, notation: text.notation };
    const { path, text: what } = explainIssues(parsed.error.issues, checked);
    throw await complain(path, what);
  }
  for (const [path, meaning] of ALWAYS_ON) {
    if (valueAt(parsed.data, path) !== false) continue;
    const what = `"${path.join(".")}": false (${meaning}) is not supported by this version; remove it`;
    throw await complain(path, what);
  }
  return { ...inOurWords(parsed.data.ralph ?? {}), shown, text };
}

function inOurWords(ralph: z.output<typeof tree>): Omit<Written, "shown" | "text"> {
  const promise = ralph.coder?.completion_promise;
  const ownLimit = ralph.coder?.max_iterations;
  const limit = ownLimit ?? ralph.default_max_iterations;
  const limitPath =
    ownLimit === undefined ? ["ralph", "default_max_iterations"] : ["ralph", "coder", "max_iterations"];
  const verify = ralph.verify_promises;
  return {
    value: {
      promise: {
        ...(promise !== undefined && { completion: promise }),
        ...(verify !== undefined && { verify }),
      },
    },
    writtenAs: new Map([
      ["promise.completion", ["ralph", "coder", "completion_promise"]],
      ["promise.verify", ["ralph", "verify_promises"]],
    ]),
    iterationsPerTask: limit === undefined ? null : { value: limit, path: limitPath },
    waiting: [
      ...(ownLimit !== undefined && ralph.default_max_iterations !== undefined
        ? [{ path: ["ralph", "default_max_iterations"], why: "ralph.coder.max_iterations is stronger" }]
        : []),
      ...OTHER_STAGES.filter((name) => ralph[name] !== undefined).map((name) => ({
        path: ["ralph", name],
        why: "waits for stages: this version has one, which takes its promise and limit from ralph.coder",
      })),
    ],
  };
}
