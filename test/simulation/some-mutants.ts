/** Every fifth one; `npm run simulate -- --mutants` hunts all of them. */
export function someMutants<Mutant extends { readonly name: string }>(
  all: readonly Mutant[],
): (readonly [string, Mutant])[] {
  return all.filter((_, at) => at % 5 === 0).map((mutant) => [mutant.name, mutant] as const);
}
