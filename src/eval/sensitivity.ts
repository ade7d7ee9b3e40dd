import { playVariant, type Estimates, type EvaluationRequest, type Workshop } from "./evaluate.ts";
import { BASELINE, EVERYTHING } from "./features.ts";
import { numbersWith, parameter, PARAMETER_NAMES, type Numbers, type ParameterName } from "./parameters.ts";

/** What comes of it when one number of the model is another; without a name, when all are at their worse ends. */
export interface SensitivityRow {
  readonly parameter: ParameterName | null;
  readonly value: number | null;
  readonly baseline: Estimates;
  readonly everything: Estimates;
}

/** Every number that may well be another, with each of these others. */
export const CHANGES: readonly { readonly name: ParameterName; readonly value: number }[] =
  PARAMETER_NAMES.flatMap((name) => {
    const { range = [], value: usual } = parameter(name);
    return range.filter((value) => value !== usual).map((value) => ({ name, value }));
  });

/** Each uncertain number at both ends of its range, the others as they are, in the same worlds; then all at once. */
export async function sensitivity(
  workshop: Workshop,
  request: EvaluationRequest,
): Promise<readonly SensitivityRow[]> {
  const play = async (
    changes: Partial<Numbers>,
  ): Promise<Pick<SensitivityRow, "baseline" | "everything">> => {
    const [baseline, everything] = await Promise.all([
      playVariant(workshop, request, BASELINE, numbersWith(changes)),
      playVariant(workshop, request, EVERYTHING, numbersWith(changes)),
    ]);
    return { baseline, everything };
  };
  const rows = await Promise.all(
    CHANGES.map(async ({ name, value }) => ({ parameter: name, value, ...(await play({ [name]: value })) })),
  );
  return [...rows, { parameter: null, value: null, ...(await play(worseEnds(rows))) }];
}

/** For each number the end of its range at which everything together does worse. */
function worseEnds(rows: readonly SensitivityRow[]): Partial<Numbers> {
  const worst = new Map<ParameterName, SensitivityRow>();
  for (const row of rows) {
    if (row.parameter === null) continue;
    const before = worst.get(row.parameter);
    if (before === undefined || badness(row.everything) > badness(before.everything))
      worst.set(row.parameter, row);
  }
  return Object.fromEntries([...worst].map(([name, { value }]) => [name, value]));
}

function badness({ uiBlocked, wasted, uiTrulyCompleted, falseAccepted, honestRejected }: Estimates): number {
  const [blocked, lost, done, wrong, unjust] = [
    uiBlocked,
    wasted,
    uiTrulyCompleted,
    falseAccepted,
    honestRejected,
  ].map((estimate) => estimate?.mean ?? 0) as [number, number, number, number, number];
  return blocked + lost - done + wrong + unjust;
}
