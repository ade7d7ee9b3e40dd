import type { AgentAdapter } from "../agent-adapter.ts";
import { belongingsOfCommand, programIn } from "../programs/program-belongings.ts";
import { createAcpReader } from "./acp-client.ts";

/** Any agent that speaks the Agent Client Protocol: one adapter for all of them. */
export const acpAdapter: AgentAdapter = {
  can: { resumes: true, takesMessages: true, takesMcpServers: true, tells: "tokens" },
  command: ({ agent, isRoot }) => ({
    command: [...(agent.command ?? []), ...agent.args],
    input: null,
    // Claude, in whatever dress, otherwise refuses to work for root without asking.
    env: isRoot ? { IS_SANDBOX: "1" } : {},
  }),
  belongings: ({ command }, env) => belongingsOfCommand(command ?? [], env),
  sandboxesItself: ({ command, permissions }) =>
    permissions !== "full" && programIn(command ?? []) === "codex",
  createReader: (request, { agent, prompt, session, workspace, mcpServer, version }) =>
    createAcpReader({
      ...request,
      exactPrompt: prompt,
      cwd: workspace,
      mcpServers: [mcpServer],
      permissions: agent.permissions,
      model: agent.model,
      version,
      resume: session.isNew ? null : session.id,
    }),
};
