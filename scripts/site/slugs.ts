/** Names headings as the usual hosts of repositories do, so that one link works in both places. */
export function slugger(): (heading: string) => string {
  const used = new Map<string, number>();
  return (heading) => {
    const slug = heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\p{M}_ -]/gu, "")
      .replaceAll(" ", "-");
    const times = used.get(slug) ?? 0;
    used.set(slug, times + 1);
    return times === 0 ? slug : `${slug}-${times}`;
  };
}
