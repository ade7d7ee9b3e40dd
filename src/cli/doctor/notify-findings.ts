import { findProgram, type Project } from "../../compose.ts";
import { channelsOf, desktopProgram } from "../../compose-notify.ts";
import { THIS_PLATFORM } from "../../compose-platform.ts";
import { resolveNotify } from "../../config/resolve-notify.ts";
import type { Config } from "../../config/schema.ts";
import type { Notice } from "../../core/notices/notice.ts";
import type { NotifySettings } from "../../core/settings.ts";
import type { Channel, ChannelName } from "../../engine/notify-ports.ts";
import type { CliContext } from "../commands.ts";
import type { Finding } from "./finding.ts";

/** How people would be told of what happens; with `sends`, they are told something now. */
export async function notifyFindings(
  config: Config,
  project: Project,
  context: CliContext,
  sends: boolean,
): Promise<readonly Finding[]> {
  const notify = resolveNotify(config);
  const { env, version } = context;
  const channels = channelsOf({ project, commands: { agents: [], gates: [], notify }, env, version });
  if (channels.length === 0) return [nobody(sends)];
  if (sends) return Promise.all(channels.map(tried));
  return channels.map((channel) => ({
    ...about(channel.name, notify, project, env),
    name: nameOf(channel),
  }));
}

function nameOf({ name }: Channel): string {
  return `notify ${name}`;
}

function nobody(isWanted: boolean): Finding {
  return {
    name: "notify",
    well: !isWanted,
    found: "nobody is told of anything: none of webhook, desktop and command is configured",
    advice: "configure one under [notify] in .ralph/ralph.toml",
  };
}

async function tried(channel: Channel): Promise<Finding> {
  const at = Date.now();
  const notice: Notice = {
    id: `test-${at}`,
    position: 0,
    kind: "test",
    at,
    run: null,
    task: null,
    text: "this is a test: notices of ralph arrive here",
    command: null,
    event: null,
  };
  const delivery = await channel.send(notice, new AbortController().signal);
  const well = delivery.is === "delivered";
  return {
    name: nameOf(channel),
    well,
    found: well ? `a test notice was sent to ${channel.shown}` : `${channel.shown}: ${delivery.why}`,
    advice: "see [notify] in .ralph/ralph.toml",
  };
}

type About = Omit<Finding, "name">;

function about(name: ChannelName, notify: NotifySettings, { root }: Project, env: NodeJS.ProcessEnv): About {
  switch (name) {
    case "webhook": {
      const { url = "", format = "json", secret = null } = notify.webhook ?? {};
      const signed = secret === null ? "not signed" : "signed";
      return well(`${new URL(url).host} gets ${format}, ${signed}; try it: ralph doctor --notify`);
    }
    case "desktop": {
      const program = desktopProgram(THIS_PLATFORM);
      if (program === null) return ill(`nobody knows how ${THIS_PLATFORM} shows one`, "use a command");
      const isThere = findProgram(program, root, env) !== null;
      return isThere ? well(program) : ill(`${program} is not installed`, `install ${program}`);
    }
    case "command": {
      const program = (notify.command ?? "").trim().split(/\s+/)[0] ?? "";
      const isThere = /[=$(`"']/.test(program) || findProgram(program, root, env) !== null;
      return isThere
        ? well("is run for each notice")
        : ill(`${program} is not installed`, `install ${program}`);
    }
    default:
      return well("is told by its plugin");
  }
}

function well(found: string): About {
  return { well: true, found, advice: null };
}

function ill(found: string, advice: string): About {
  return { well: false, found, advice };
}
