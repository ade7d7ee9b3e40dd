/** Names and passwords in addresses are nobody's business who reads our messages. */
export function withoutCredentials(text: string): string {
  return text
    .replaceAll(/(?<=\b[a-z][a-z0-9+.-]*:\/\/)[^/\s'"]*@/gi, "")
    .replaceAll(/([?&](?:\w*token|\w*key|\w*secret|password)=)[^&\s'"]*/gi, "$1…");
}
