/** The name of the tree without files, in the manner of the repository that `sibling` is from. */
export function emptyTree(sibling: string): string {
  return sibling.length === 64
    ? "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321"
    : "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
}
