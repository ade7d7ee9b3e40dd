import type { NotifySettings, WebhookSettings } from "../core/settings.ts";
import type { Config } from "./schema.ts";
import { formatOf } from "./webhook-address.ts";

export function resolveNotify({ notify }: Config): NotifySettings {
  return {
    desktop: notify.desktop,
    webhook: webhookOf(notify),
    command: notify.command.trim() === "" ? null : notify.command,
    on: notify.on,
  };
}

function webhookOf({ webhook: url, format, secret }: Config["notify"]): WebhookSettings | null {
  if (url === "") return null;
  return { url, format: format === "auto" ? formatOf(url) : format, secret: secret === "" ? null : secret };
}
