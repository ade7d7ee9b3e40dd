import { noticeJson, type Sending } from "../../core/notices/payload.ts";
import type { Channel } from "../../engine/notify-ports.ts";
import type { Part } from "./advisers.ts";
import { askPlugin, inWords, messageOf, shortName } from "./ask-plugin.ts";
import type { PluginNotice, PluginNotifier } from "./plugin.ts";

const LIMIT_MS = 30_000;

/** A notifier of a plugin, as a way to reach people. Each notice is given to it once. */
export function pluginChannel({ part, does }: Part<PluginNotifier>, sending: () => Sending): Channel {
  return {
    name: `plugin:${shortName(part)}`,
    shown: inWords(part),
    async send(notice) {
      if (does.on !== undefined && !does.on.includes(notice.kind)) return { is: "delivered" };
      const told = noticeJson(notice, sending()) as unknown as PluginNotice;
      try {
        // Nobody's impatience ends it: what has begun would be done twice.
        await askPlugin(part, LIMIT_MS, (signal) => does.notify(told, signal));
        return { is: "delivered" };
      } catch (error) {
        return { is: "refused", why: messageOf(error) };
      }
    },
  };
}
