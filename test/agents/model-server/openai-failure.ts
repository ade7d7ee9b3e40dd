import type { Failure } from "./reply.ts";
import { epochSeconds, newId, type HttpFailure } from "./wire-format.ts";

/** Responses and Chat Completions fail alike. */
export function openaiFailure(failure: Failure, resetsAt: Date): HttpFailure {
  switch (failure) {
    case "unauthorized":
      return error(401, {
        type: "invalid_request_error",
        code: "invalid_api_key",
        message: "Incorrect API key provided: sk-dummy.",
      });
    case "rate-limited":
      return error(
        429,
        {
          type: "requests",
          code: "rate_limit_exceeded",
          message:
            "Rate limit reached on requests per min (RPM): Limit 3, Used 3, Requested 1. Please try again in 2s.",
        },
        { "retry-after": "2", "x-ratelimit-reset-requests": "2s" },
      );
    case "overloaded":
      return error(503, {
        type: "server_error",
        code: "server_is_overloaded",
        message: "Our servers are currently overloaded. Please try again later.",
      });
    case "usage-limit":
      return usageLimit(epochSeconds(resetsAt));
    case "no-credit":
      return error(429, {
        type: "insufficient_quota",
        code: "insufficient_quota",
        message: "You exceeded your current quota, please check your plan and billing details.",
      });
    case "unknown-model":
      return error(404, {
        type: "invalid_request_error",
        code: "model_not_found",
        message: "The model `gpt-9` does not exist or you do not have access to it.",
      });
    case "too-long":
      return error(400, {
        type: "invalid_request_error",
        code: "context_length_exceeded",
        message:
          "Your input exceeds the context window of this model. Please adjust your input and try again.",
      });
  }
}

function usageLimit(resetsAtS: number): HttpFailure {
  return error(
    429,
    {
      type: "usage_limit_reached",
      code: null,
      message: "The usage limit has been reached",
      plan_type: "plus",
      resets_at: resetsAtS,
      resets_in_seconds: resetsAtS - epochSeconds(new Date()),
    },
    {
      "x-codex-primary-used-percent": "100",
      "x-codex-primary-window-minutes": "300",
      "x-codex-primary-reset-at": String(resetsAtS),
    },
  );
}

function error(
  status: number,
  details: Readonly<Record<string, unknown>>,
  headers: Readonly<Record<string, string>> = {},
): HttpFailure {
  return {
    status,
    headers: { "x-request-id": newId("req_"), ...headers },
    body: { error: { param: null, ...details } },
  };
}
