import { markup, type Markup } from "./markup.ts";
import { STYLE } from "./style.ts";

/** One page that needs nothing else: no script, no picture, no address is ever asked for. */
export function page(title: string, main: Markup, footer: Markup): string {
  const { markup: text } = markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
${STYLE}
</head>
<body>
<main>
${main}
</main>
<footer>${footer}</footer>
</body>
</html>
`;
  return text;
}
