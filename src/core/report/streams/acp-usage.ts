import type { Usage } from "../agent-report.ts";
import { fieldsOf, listOf, numberOf, textOf, type Fields } from "./json-fields.ts";

/** What the answer to a prompt adds to what is known, and whose tokens they are. */
export function readAcpUsage(result: Fields, known: Usage): { usage: Usage; model: string | null } {
  const quota = fieldsOf(fieldsOf(result["_meta"])["quota"]);
  const told = tokensOf(fieldsOf(result["usage"])) ?? countsOf(fieldsOf(quota["token_count"]));
  return { usage: told === null ? known : greaterOf(known, told), model: mainModel(quota) };
}

/** The cost is that of the whole session so far. */
export function withCost(usage: Usage, cost: Fields): Usage {
  const amount = numberOf(cost["amount"]);
  return amount === null || cost["currency"] !== "USD" ? usage : { ...usage, costUsd: amount };
}

type Tokens = Omit<Usage, "costUsd">;

/**
 * Agents count differently: some have the tokens of the cache within the input, some the thoughts within the output.
 * Their total says which.
 */
function tokensOf(told: Fields): Tokens | null {
  const count = (name: string): number => numberOf(told[name]) ?? 0;
  if (numberOf(told["inputTokens"]) === null) return null;
  const [input, output, thoughts] = [count("inputTokens"), count("outputTokens"), count("thoughtTokens")];
  const [read, written] = [count("cachedReadTokens"), count("cachedWriteTokens")];
  const total = numberOf(told["totalTokens"]) ?? input + read + written + output + thoughts;
  const holdsCache = total === input + output || total === input + output + thoughts;
  const holdsThoughts = total === input + output || total === input + read + written + output;
  return {
    inputTokens: holdsCache ? Math.max(0, input - read) : input + written,
    outputTokens: holdsThoughts ? output : output + thoughts,
    cacheReadTokens: numberOf(told["cachedReadTokens"]),
  };
}

/** Here what came from the cache is within the input, and not told apart. */
function countsOf(told: Fields): Tokens | null {
  const inputTokens = numberOf(told["input_tokens"]);
  const outputTokens = numberOf(told["output_tokens"]);
  return inputTokens === null ? null : { inputTokens, outputTokens, cacheReadTokens: null };
}

/**
 * When messages join a running turn, each is answered: with the same numbers, or all but the last with zeros.
 */
function greaterOf(known: Usage, told: Tokens): Usage {
  const greater = (a: number | null, b: number | null): number | null =>
    a === null || b === null ? (a ?? b) : Math.max(a, b);
  return {
    inputTokens: greater(known.inputTokens, told.inputTokens),
    outputTokens: greater(known.outputTokens, told.outputTokens),
    cacheReadTokens: greater(known.cacheReadTokens, told.cacheReadTokens),
    costUsd: known.costUsd,
  };
}

/** Small models do side jobs. */
function mainModel(quota: Fields): string | null {
  const models = listOf(quota["model_usage"]).map(fieldsOf);
  const sizeOf = (model: Fields): number =>
    Math.max(0, ...Object.values(fieldsOf(model["token_count"])).map((count) => numberOf(count) ?? 0));
  const [first] = models.toSorted((a, b) => sizeOf(b) - sizeOf(a));
  return textOf(first?.["model"]);
}
