import type { ProgramFormat } from "../../../core/known-programs.ts";

/** What a person needs to know to have a program on the machine. */
export interface ProgramFacts {
  readonly install: string;
  readonly login: string;
  /** With which our tests run it. */
  readonly triedVersion: string;
}

export const PROGRAM_FACTS: Readonly<Record<ProgramFormat, ProgramFacts>> = {
  claude: {
    install: "npm install -g @anthropic-ai/claude-code",
    login: "run claude once and log in, or set ANTHROPIC_API_KEY",
    triedVersion: "2.1.325",
  },
  codex: {
    install: "npm install -g @openai/codex",
    login: "run codex login, or set CODEX_API_KEY",
    triedVersion: "0.166.0",
  },
  gemini: {
    install: "npm install -g @google/gemini-cli",
    login: "run gemini once and log in, or set GEMINI_API_KEY",
    triedVersion: "0.61.0",
  },
  opencode: {
    install: "npm install -g opencode-ai",
    login: "run opencode auth login",
    triedVersion: "1.18.33",
  },
  copilot: {
    install: "npm install -g @github/copilot",
    login: "run copilot once and log in, or set GH_TOKEN",
    triedVersion: "1.0.102",
  },
};
