import { connection } from "../live.ts";
import { overview } from "../overview-store.ts";
import type { Route } from "../router.ts";
import { isHelpOpen } from "../shortcuts.ts";
import { nextTheme, theme } from "../theme.ts";

const PLACES: readonly { readonly name: string; readonly href: string; readonly pages: readonly string[] }[] =
  [
    { name: "Board", href: "/", pages: ["board"] },
    { name: "Runs", href: "/runs", pages: ["runs", "run", "iteration"] },
    { name: "Charts", href: "/charts", pages: ["charts"] },
    { name: "Inbox", href: "/inbox", pages: ["inbox"] },
  ];

const THEME_SIGNS = { system: "◐", light: "○", dark: "●" } as const;

export function Masthead({ at }: { readonly at: Route }) {
  const known = overview.value;
  const waiting = known?.status.inbox.length ?? 0;
  return (
    <header class="masthead">
      <a class="brand" href="/">
        <span class="brand-mark" aria-hidden="true">
          ↻
        </span>
        <span class="brand-name">{known?.project ?? "ralph"}</span>
      </a>
      <nav aria-label="Pages">
        {PLACES.map(({ name, href, pages }) => (
          <a key={href} href={href} aria-current={pages.includes(at.page) ? "page" : undefined}>
            {name}
            {name === "Inbox" && waiting > 0 && (
              <>
                {" "}
                <span class="badge">{waiting}</span>
              </>
            )}
          </a>
        ))}
      </nav>
      <div class="masthead-end">
        {known !== undefined && !known.mayAct && <span class="tag">read-only</span>}
        <Connection />
        <button
          type="button"
          class="quiet icon"
          onClick={nextTheme}
          title={`Colours: ${theme.value}`}
          aria-label={`Colours: ${theme.value}. Change`}
        >
          <span aria-hidden="true">{THEME_SIGNS[theme.value]}</span>
        </button>
        <button
          type="button"
          class="quiet icon"
          title="Help (?)"
          aria-label="Help"
          onClick={() => (isHelpOpen.value = true)}
        >
          <span aria-hidden="true">?</span>
        </button>
      </div>
    </header>
  );
}

function Connection() {
  const state = connection.value;
  return (
    <span class={`connection is-${state}`} role="status">
      <span class="dot" aria-hidden="true" />
      <span class="connection-word">
        {state === "live" ? "live" : state === "connecting" ? "connecting…" : "reconnecting…"}
      </span>
    </span>
  );
}
