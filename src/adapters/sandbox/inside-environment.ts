import { isSecretVariable } from "../../core/redact.ts";
import { gitInForeground } from "../system/git-in-foreground.ts";

export interface EnvironmentInside {
  readonly env: Readonly<Record<string, string>>;
  /** Variables of the agent's own. */
  readonly own: RegExp;
  /** Those that the operator has named for it, though they look secret. */
  readonly named: readonly string[];
}

/** The environment without what leads out of the sandbox, and without secrets that are not this agent's. */
export function insideEnvironment({ env, own, named }: EnvironmentInside): Record<string, string> {
  const kept = Object.entries(env).filter(([name, value]) => {
    if (named.includes(name) || own.test(name) || OURS.test(name)) return true;
    return !LEADS_OUT.test(name) && (PROXY.test(name) || !isSecretVariable(name, value));
  });
  const inside = { ...Object.fromEntries(kept), TMPDIR: "/tmp" };
  return { ...inside, ...unsigned(inside) };
}

/** The same without the operator's proxies, and whatever password is in them. */
export function withoutProxies(env: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !PROXY.test(name)));
}

/** Of these a container gets the values; of the rest its image has its own. */
export function namesForImage({ env, own, named }: EnvironmentInside): readonly string[] {
  const isWanted = (name: string): boolean =>
    named.includes(name) || own.test(name) || OURS.test(name) || PLAIN.test(name) || PROXY.test(name);
  const inside = insideEnvironment({ env, own, named });
  // Whoever starts the client adds these, and git refuses a count without them.
  return Object.keys({ ...inside, ...gitInForeground(inside) })
    .filter(isWanted)
    .toSorted();
}

const OURS = /^RALPH_(?!STATE$|QUEUE_)/;
const PLAIN = /^(?:HOME|TMPDIR|LANG|LANGUAGE|LC_.*|TZ|TERM|COLORTERM|NO_COLOR|CI|IS_SANDBOX|GIT_.*)$/;
const PROXY = /^(?:https?|all|no|ftp)_proxy$/i;
/** Sockets and folders of the operator's session, which are not there. */
const LEADS_OUT =
  /^(?:SSH_AUTH_SOCK|SSH_AGENT_PID|GPG_AGENT_INFO|DBUS_.*|DISPLAY|WAYLAND_DISPLAY|XAUTHORITY|XDG_RUNTIME_DIR|DOCKER_HOST|RALPH_STATE)$/;

/** The keys are not there, and a commit that cannot be signed would fail. */
function unsigned(env: Readonly<Record<string, string>>): Record<string, string> {
  const count = Number(env["GIT_CONFIG_COUNT"] ?? "0");
  if (!Number.isInteger(count) || count < 0) return {};
  return {
    GIT_CONFIG_COUNT: String(count + 2),
    [`GIT_CONFIG_KEY_${count}`]: "commit.gpgSign",
    [`GIT_CONFIG_VALUE_${count}`]: "false",
    [`GIT_CONFIG_KEY_${count + 1}`]: "tag.gpgSign",
    [`GIT_CONFIG_VALUE_${count + 1}`]: "false",
  };
}
