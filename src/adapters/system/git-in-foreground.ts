/**
 * Settings with which git tidies up (`gc --auto`) before its command ends, and not in the background: there it
 * would be ended with the rest of the family, and begin anew at every commit.
 */
export function gitInForeground(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const count = Number(env["GIT_CONFIG_COUNT"] ?? "0");
  if (!Number.isInteger(count) || count < 0) return {};
  const entries = KEYS.flatMap((key, index) => [
    [`GIT_CONFIG_KEY_${count + index}`, key],
    [`GIT_CONFIG_VALUE_${count + index}`, "false"],
  ]);
  return { ...Object.fromEntries(entries), GIT_CONFIG_COUNT: String(count + KEYS.length) };
}

const KEYS = ["gc.autoDetach", "maintenance.autoDetach"];
