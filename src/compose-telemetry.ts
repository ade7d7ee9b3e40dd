import { hostname } from "node:os";
import { basename } from "node:path";
import { otlpSettings } from "./adapters/telemetry/otlp-settings.ts";
import { Telemetry } from "./adapters/telemetry/telemetry.ts";
import type { Project } from "./compose-project.ts";
import type { Commands } from "./core/settings.ts";
import { providersOf } from "./core/telemetry/otlp.ts";

export type { Telemetry };

export interface TelemetryParts {
  readonly project: Project;
  readonly commands: Commands;
  readonly env: NodeJS.ProcessEnv;
  readonly version: string;
  readonly worker?: string;
  readonly warn: (text: string) => void;
  readonly note: (text: string) => void;
}

/** What tells a receiver of OpenTelemetry; the environment says where that is. */
export function openTelemetry({ project, commands, env, ...rest }: TelemetryParts): Telemetry {
  return new Telemetry({
    ...rest,
    settings: otlpSettings(env),
    resource: {
      "service.version": rest.version,
      "host.name": hostname(),
      "process.pid": process.pid,
      "ralph.project": basename(project.root),
    },
    providerOf: providersOf(commands.agents),
  });
}
