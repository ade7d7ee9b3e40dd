import { plainText, userMessage, type Message } from "./conversation.ts";
import type { Failure } from "./reply.ts";
import { epochSeconds, newId, pieces, type HttpFailure, type Turn, type WireFormat } from "./wire-format.ts";

interface GenerateRequest {
  readonly systemInstruction?: { readonly parts?: unknown };
  readonly tools?: readonly { readonly functionDeclarations?: readonly { readonly name: string }[] }[];
  readonly contents?: readonly { readonly role?: string; readonly parts?: readonly Part[] }[];
}

interface Part {
  readonly text?: string;
  readonly functionResponse?: { readonly response?: unknown };
}

const GOOGLE = "type.googleapis.com/google.rpc";

export const gemini: WireFormat = {
  path: /:(generateContent|streamGenerateContent)$/,
  read(body) {
    const { systemInstruction, tools = [], contents = [] } = body as GenerateRequest;
    return {
      model: "scripted",
      tools: tools.flatMap(({ functionDeclarations = [] }) =>
        functionDeclarations.map(({ name }) => ({ name })),
      ),
      messages: [
        { role: "system", text: plainText(systemInstruction?.parts) },
        ...contents.flatMap(({ role, parts = [] }) => parts.flatMap((part) => readPart(role, part))),
      ],
    };
  },
  wantsStream: (_body, path) => path.endsWith(":streamGenerateContent"),
  answer(turn) {
    const calls = turn.calls.map(({ name, input }) => ({
      functionCall: { id: newId("call_"), name, args: input },
      thoughtSignature: "c2lnbmF0dXJl",
    }));
    const chunk = (parts: readonly object[], end: object = {}) => ({
      candidates: [{ content: { role: "model", parts }, index: 0, ...end }],
      usageMetadata: usageOf(turn),
      modelVersion: turn.model,
      responseId: "scripted",
    });
    const end = { finishReason: turn.isCutOff ? "MAX_TOKENS" : "STOP" };
    const text = turn.say === "" ? [] : [{ text: turn.say }];
    return {
      whole: chunk([...text, ...calls], end),
      events: [
        ...pieces(turn.say).map((text) => ({ data: chunk([{ text }]) })),
        { data: chunk(calls.length > 0 ? calls : [{ text: "" }], end) },
      ],
    };
  },
  failure: httpFailure,
};

function readPart(role: string | undefined, { text, functionResponse }: Part): readonly Message[] {
  if (functionResponse !== undefined) return [{ role: "tool", text: plainText(functionResponse.response) }];
  if (text === undefined) return [];
  return [role === "model" ? { role: "assistant", text } : userMessage(text)];
}

function usageOf({ usage }: Turn) {
  return {
    promptTokenCount: usage.input,
    candidatesTokenCount: usage.output,
    totalTokenCount: usage.input + usage.output + usage.reasoning,
    cachedContentTokenCount: usage.cacheRead,
    thoughtsTokenCount: usage.reasoning,
  };
}

function httpFailure(failure: Failure, resetsAt: Date): HttpFailure {
  switch (failure) {
    case "unauthorized":
      return error(401, "UNAUTHENTICATED", "API key not valid. Please pass a valid API key.", [
        { "@type": `${GOOGLE}.ErrorInfo`, reason: "API_KEY_INVALID", domain: "googleapis.com" },
      ]);
    case "rate-limited":
      return exhausted("GenerateRequestsPerMinutePerProjectPerModel", 2);
    case "overloaded":
      return error(503, "UNAVAILABLE", "The model is overloaded. Please try again later.");
    case "usage-limit":
      return exhausted(
        "GenerateRequestsPerDayPerProjectPerModel-FreeTier",
        epochSeconds(resetsAt) - epochSeconds(new Date()),
      );
    case "no-credit":
      return error(429, "RESOURCE_EXHAUSTED", "Your prepayment credits are depleted.");
    case "unknown-model":
      return error(404, "NOT_FOUND", "models/gemini-9 is not found for API version v1beta.");
    case "too-long":
      return error(
        400,
        "INVALID_ARGUMENT",
        "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
      );
  }
}

function exhausted(quotaId: string, retryInS: number): HttpFailure {
  const quotaMetric = "generativelanguage.googleapis.com/generate_content_requests";
  const message = `You exceeded your current quota, please check your plan and billing details. Quota exceeded for metric: ${quotaMetric}, limit: 250. Please retry in ${retryInS}s.`;
  return error(429, "RESOURCE_EXHAUSTED", message, [
    { "@type": `${GOOGLE}.QuotaFailure`, violations: [{ quotaMetric, quotaId, quotaValue: "250" }] },
    { "@type": `${GOOGLE}.RetryInfo`, retryDelay: `${retryInS}s` },
  ]);
}

function error(code: number, status: string, message: string, details: readonly object[] = []): HttpFailure {
  return { status: code, headers: {}, body: { error: { code, message, status, details } } };
}
