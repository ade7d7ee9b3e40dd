import { inWords, type Notice } from "../../../core/notices/notice.ts";

/** A program that shows a notification, with everything that it is told. No shell reads any of it. */
export interface DesktopCommand {
  readonly program: string;
  readonly args: readonly string[];
  /** Added to its environment. */
  readonly env: Readonly<Record<string, string>>;
}

const TEXT_LENGTH_MAX = 500;

/** What has to be installed for it; null where we know no way. */
export function desktopProgram(platform: NodeJS.Platform): string | null {
  return desktopCommand(platform, NOTHING, "")?.program ?? null;
}

const NOTHING: Notice = {
  id: "",
  position: 0,
  kind: "test",
  at: 0,
  run: null,
  task: null,
  text: "",
  command: null,
  event: null,
};

/** How a desktop shows a notice; null where we know no way. */
export function desktopCommand(
  platform: NodeJS.Platform,
  notice: Notice,
  project: string,
): DesktopCommand | null {
  const title = plain(`ralph · ${project}`);
  const text = plain(inWords(notice));
  switch (platform) {
    case "linux":
    case "freebsd":
    case "openbsd":
      return notifySend(notice, title, text);
    case "darwin":
      return { program: "osascript", args: [...APPLESCRIPT, title, text], env: {} };
    case "win32":
      return {
        program: "powershell.exe",
        args: ["-NoProfile", "-NonInteractive", "-Command", POWERSHELL],
        env: { RALPH_NOTICE_TITLE: title, RALPH_NOTICE_BODY: text },
      };
    default:
      return null;
  }
}

/** No character that would end an argument, and no more than a desktop shows. */
function plain(text: string): string {
  const clean = text.replaceAll(/[^\P{Cc}\n\t]/gu, " ");
  return clean.length > TEXT_LENGTH_MAX ? `${clean.slice(0, TEXT_LENGTH_MAX)}…` : clean;
}

/** Its text is read as markup. */
function notifySend({ kind }: Notice, title: string, text: string): DesktopCommand {
  const isUrgent = kind === "decide" || kind === "blocked" || kind === "stuck";
  const markup = text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  return {
    program: "notify-send",
    args: ["--app-name=ralph", `--urgency=${isUrgent ? "critical" : "normal"}`, "--", title, markup],
    env: {},
  };
}

/** What follows are arguments of the script, not part of it. */
const APPLESCRIPT = [
  "-e",
  "on run argv",
  "-e",
  "display notification (item 2 of argv) with title (item 1 of argv)",
  "-e",
  "end run",
  "--",
];

/** The texts are in variables, and become text nodes: nothing of them is read as a script or as XML. */
const POWERSHELL = [
  "$ErrorActionPreference = 'Stop'",
  "[void][Windows.UI.Notifications.ToastNotificationManager, Windows.UI.Notifications, ContentType = WindowsRuntime]",
  "$xml = [Windows.UI.Notifications.ToastNotificationManager]::GetTemplateContent([Windows.UI.Notifications.ToastTemplateType]::ToastText02)",
  "$nodes = $xml.GetElementsByTagName('text')",
  "[void]$nodes.Item(0).AppendChild($xml.CreateTextNode($env:RALPH_NOTICE_TITLE))",
  "[void]$nodes.Item(1).AppendChild($xml.CreateTextNode($env:RALPH_NOTICE_BODY))",
  "$app = '{1AC14E77-02E7-4E5D-B744-2EB1AE5198B7}\\WindowsPowerShell\\v1.0\\powershell.exe'",
  "[Windows.UI.Notifications.ToastNotificationManager]::CreateToastNotifier($app).Show([Windows.UI.Notifications.ToastNotification]::new($xml))",
].join("; ");
