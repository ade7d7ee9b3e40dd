import { z } from "zod";
import { RalphError } from "../core/ralph-error.ts";
import { lineOfPath, type ConfigText } from "./config-text.ts";
import { explainIssues } from "./explain-issue.ts";
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

const STAGES = ["coder", "reviewer", "tester", "qa"] as const;

/** Takes the tree in our own words. `strict` says that the whole file is ours. */
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
  return { ...inOurWords(parsed.data.ralph ?? {}), shown, text };
}

type Tree = z.output<typeof tree>;
type InOurWords = Omit<Written, "shown" | "text">;

/** A tree that speaks of the coder's loop alone means the one stage that there is without a pipeline. */
function inOurWords(ralph: Tree): InOurWords {
  const isSingle = STAGES.every((name) => name === "coder" || ralph[name] === undefined);
  const loops = ralph.enabled !== false && ralph.coder?.enabled !== false;
  return isSingle && loops ? oneStage(ralph) : pipeline(ralph);
}

function oneStage(ralph: Tree): InOurWords {
  const promise = ralph.coder?.completion_promise;
  const ownLimit = ralph.coder?.max_iterations;
  const limit = ownLimit ?? ralph.default_max_iterations;
  const limitPath =
    ownLimit === undefined ? ["ralph", "default_max_iterations"] : ["ralph", "coder", "max_iterations"];
  const isOverruled = ownLimit !== undefined && ralph.default_max_iterations !== undefined;
  return {
    value: { promise: { ...(promise !== undefined && { completion: promise }), ...verifyOf(ralph) } },
    writtenAs: new Map([
      ["promise.completion", ["ralph", "coder", "completion_promise"]],
      ["promise.verify", ["ralph", "verify_promises"]],
    ]),
    iterationsPerTask: limit === undefined ? null : { value: limit, path: limitPath },
    waiting: isOverruled
      ? [{ path: ["ralph", "default_max_iterations"], why: "ralph.coder.max_iterations is stronger" }]
      : [],
  };
}

function pipeline(ralph: Tree): InOurWords {
  const named = STAGES.filter((name) => name === "coder" || ralph[name] !== undefined);
  const writtenAs = new Map([["promise.verify", ["ralph", "verify_promises"]]]);
  const stages = named.map((name) => {
    const own = ralph[name] ?? {};
    const limit = own.max_iterations ?? ralph.default_max_iterations;
    const limitPath =
      own.max_iterations === undefined ? ["default_max_iterations"] : [name, "max_iterations"];
    writtenAs.set(`stages.${name}.max_iterations`, ["ralph", ...limitPath]);
    writtenAs.set(
      `stages.${name}.enabled`,
      own.enabled === undefined ? ["ralph"] : ["ralph", name, "enabled"],
    );
    writtenAs.set(`stages.${name}.completion_promise`, ["ralph", name, "completion_promise"]);
    const { completion_promise: promise } = own;
    return [
      name,
      {
        enabled: ralph.enabled !== false && own.enabled !== false,
        ...(limit !== undefined && { max_iterations: limit }),
        ...(promise !== undefined && { completion_promise: promise }),
      },
    ];
  });
  return {
    value: { promise: verifyOf(ralph), stages: Object.fromEntries(stages) as unknown },
    writtenAs,
    iterationsPerTask: null,
    waiting: [],
  };
}

function verifyOf({ verify_promises: verify }: Tree): { readonly verify?: boolean } {
  return verify === undefined ? {} : { verify };
}
