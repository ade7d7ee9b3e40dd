import type { Page } from "./read-page.ts";

/** A plain script, since a page that is opened as a file may not fetch anything. Loaded when somebody searches. */
export function searchIndex(pages: readonly { readonly page: Page; readonly group: string }[]): string {
  const index = {
    pages: pages.map(({ page, group }) => [page.url, page.title, group]),
    sections: pages.flatMap(({ page }, at) =>
      page.sections.map(({ id, heading, text }) => [at, id, heading, text]),
    ),
  };
  return `window.ralphIndex = ${JSON.stringify(index).replaceAll("</", String.raw`<\/`)};\n`;
}
